import { createJobGuard } from 'cronlatch/mysql2';
import { currentRun, OncePerDay, SchedulerLock, type JobGuard } from 'cronlatch';

export function openGuard(url: string): Promise<JobGuard> {
  return createJobGuard(url, {
    keepLog: '64 kB', // Of each attempt.
    redact: (line) => line.replace(/\b\d{12,19}\b/g, '****'), // Before a line leaves the process.
  });
}

export class Payments {
  constructor(private readonly payments: readonly { id: string; card: string }[]) {}

  @SchedulerLock({ name: 'settle-card-payments', lockAtMostFor: '30m' })
  @OncePerDay({ timeZone: 'Europe/Paris' })
  async settle(): Promise<void> {
    for (const [index, { id, card }] of this.payments.entries()) {
      console.log(`settling ${id} of card ${card}`);
      await Promise.resolve();
      currentRun().progress(index + 1, this.payments.length);
    }
  }
}
