import type { ScheduledTask } from 'node-cron';
import type { LockedTask } from '../../core';
import type { GuardConfiguration } from '../../guard';
import { requireGuard } from '../../guard/configured-guard';
import { integrationOf } from '../../guard/job-guard';
import { checkSchedule, scheduleTask, type ScheduleOptions } from './cron-schedule';
import { onDroppedTicks } from './dropped-ticks';
import type { ScheduleJobsOptions } from './schedule-jobs';
import { warnOfSkippedDates } from './skipped-dates';

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
  configuration: GuardConfiguration,
  task: LockedTask<unknown>,
  options: ScheduleJobsOptions & ScheduleOptions = {},
): ScheduledTask {
  const guard = requireGuard(options.guard, 'scheduleLocked');
  const schedule = { ...options, expression };
  checkSchedule(schedule);
  const { timeZone } = schedule;
  const { oncePer } = configuration;
  const locked = {
    ...configuration,
    oncePer: oncePer && { ...oncePer, timeZone: oncePer.timeZone ?? timeZone },
  };
  const call = (): LockedTask<unknown> => task;
  const place = `scheduleLocked('${expression}')`;
  const declaration = { place, configuration: locked, call, schedules: [schedule] };
  const integration = integrationOf(guard);
  const [job] = integration.admit([declaration]);
  warnOfSkippedDates(integration, [declaration]);
  const scheduled = scheduleTask(schedule, locked.name, async (scheduledAt) => {
    const tick = { task, args: [], call, scheduledAt };
    const result = await integration.execute(job, tick).catch(() => undefined); // Reported as an event.
    return result?.executed ? result.value : undefined;
  });
  onDroppedTicks(scheduled, (ticks, error) => integration.dropTicks(job, ticks, error));
  guard.onClose({ stop: async () => await scheduled.destroy() });
  return scheduled;
}
