import type { JobGuard } from 'cronlatch';
import { scheduleDistributed } from 'cronlatch/node-cron';
import type { ScheduledTask } from 'node-cron';

export function start(
  guard: JobGuard,
  work: () => Promise<void>,
  log: (line: string) => void,
): ScheduledTask {
  const task = scheduleDistributed('0 3 * * *', work, {
    guard,
    name: 'nightly-export',
    timeZone: 'Europe/Paris',
    lockAtMostFor: '5m', // How long a crashed instance blocks the task.
  });
  task.on('execution:skipped', ({ date, reason }) => log(`skipped ${date.toISOString()}: ${reason}`));
  return task;
}
