import type { JobGuard } from 'cronlatch';
import { LedgerRunCoordinator } from 'cronlatch/node-cron';
import { schedule, type ScheduledTask } from 'node-cron';

export function start(guard: JobGuard, work: () => Promise<void>): ScheduledTask {
  const runCoordinator = new LedgerRunCoordinator({ guard });
  const task = schedule('0 3 * * *', work, {
    name: 'nightly-export',
    timezone: 'Europe/Paris',
    distributed: true,
    runCoordinator,
  });
  runCoordinator.observe(task); // Without this, the outcome of a tick is not known.
  guard.onClose({ stop: async () => await task.destroy() });
  return task;
}
