import type { ScheduledTask } from 'node-cron';
import type { LockConfiguration, LockedTask } from '../../core';
import { requiredGuard } from '../../guard/configured-guard';
import { checkSchedule, scheduleTask, type ScheduleOptions } from './cron-schedule';
import { claimLocks } from './lock-places';
import type { ScheduleJobsOptions } from './schedule-jobs';

/**
 * A node-cron task around a plain function. Failures become events and log lines. `guard.close()` stops the task.
 *
 * @throws InvalidLockConfigurationError for an expression, a zone, a name or a duration that cannot be meant, and for a
 * lock that another task has, without `shared: true`
 * @throws InvalidLockUseError with a guard that is closed
 * @throws NotConfiguredError without any guard
 */
export function scheduleLocked(
  expression: string,
  configuration: LockConfiguration,
  task: LockedTask<unknown>,
  options: ScheduleJobsOptions & ScheduleOptions = {},
): ScheduledTask {
  const guard = requiredGuard(options.guard, 'scheduleLocked');
  const schedule = { ...options, expression };
  const locked = { ...configuration };
  checkSchedule(schedule);
  claimLocks(guard, [{ place: `scheduleLocked('${expression}')`, configuration: locked }]);
  const scheduled = scheduleTask(schedule, locked.name, async (scheduledAt) => {
    const result = await guard.run({ ...locked, scheduledAt }, task).catch(() => undefined); // Reported as an event.
    return result?.executed ? result.value : undefined;
  });
  guard.onClose({ stop: async () => await scheduled.destroy() });
  return scheduled;
}
