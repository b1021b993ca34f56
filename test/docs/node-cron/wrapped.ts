import { currentRun, OncePerDay, SchedulerLock, type JobGuard } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import type { ScheduledTask } from 'node-cron';

export class StockJobs {
  constructor(private readonly sync: () => Promise<number>) {}

  @Scheduled('*/5 * * * *', { maxRandomDelay: 20_000 })
  @SchedulerLock('sync-stock', '10m', '1m')
  async syncStock(): Promise<number | undefined> {
    return await this.sync();
  }

  @Scheduled('0 3 * * *', { timeZone: 'Europe/Paris' })
  @SchedulerLock({ name: 'count-stock', lockAtMostFor: '1m', keepAlive: true })
  @OncePerDay()
  async countStock(): Promise<string | undefined> {
    const { businessDate, scheduledAt } = currentRun(); // Not from node-cron's arguments.
    return `${businessDate}, due at ${scheduledAt?.toISOString()}: ${await this.sync()}`;
  }
}

export function start(guard: JobGuard, sync: () => Promise<number>): ScheduledTask[] {
  return scheduleJobs(new StockJobs(sync), { guard });
}
