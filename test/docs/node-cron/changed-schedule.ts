import type { JobGuard } from 'cronlatch';
import { schedule, type ScheduledTask, type TaskContext } from 'node-cron';

const CLOSE_DAY = {
  name: 'close-day',
  lockAtMostFor: '10m',
  oncePer: { period: 'day', timeZone: 'Europe/Paris' },
} as const;

/** A manual call has no scheduled time. */
function scheduledAt({ date, execution }: TaskContext): Date | undefined {
  return execution?.reason === 'invoked' ? undefined : date;
}

/** @returns a function that schedules the job and replaces the schedule before it */
export function start(guard: JobGuard, closeDay: () => Promise<void>): (expression: string) => ScheduledTask {
  const tick = guard.wrap(CLOSE_DAY, closeDay, { scheduledAt });
  let task: ScheduledTask | undefined;
  guard.onClose({ stop: async () => await task?.destroy() });
  return (expression) => {
    const next = schedule(expression, tick, { name: CLOSE_DAY.name, timezone: 'Europe/Paris' });
    void task?.destroy();
    return (task = next);
  };
}
