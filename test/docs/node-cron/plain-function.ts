import type { JobGuard } from 'cronlatch';
import { scheduleLocked } from 'cronlatch/node-cron';
import type { ScheduledTask } from 'node-cron';

export function start(guard: JobGuard, sync: (signal: AbortSignal) => Promise<number>): ScheduledTask {
  const lock = { name: 'sync-stock', lockAtMostFor: '10m', lockAtLeastFor: '1m' };
  return scheduleLocked('*/5 * * * *', lock, ({ signal }) => sync(signal), { guard });
}
