import type { ScheduledTask } from 'node-cron';
import type { LockedTask } from '../../core';
import type { GuardConfiguration } from '../../guard';
import { requireGuard } from '../../guard/configured-guard';
import { integrationOf } from '../../guard/integration';
import { checkSchedule, nextTimeOf, scheduleTask, type ScheduleOptions } from './cron-schedule';
import { onDroppedTicks } from './dropped-ticks';
import type { ScheduleJobsOptions } from './schedule-jobs';
import { warnOfSkippedDates } from './skipped-dates';

/**
 * Creates a node-cron task that runs a plain function under a lock. Failures become events and log lines.
 * `guard.close()` stops the task.
 *
 * @throws InvalidLockConfigurationError for an invalid expression, time zone, name or duration, and if another task has
 * the same lock without `shared: true`
 * @throws InvalidLockUseError if the guard is closed
 * @throws NotConfiguredError if there is no guard
 */
export function scheduleLocked(
  expression: string,
  configuration: GuardConfiguration,
  task: LockedTask<unknown>,
  options: ScheduleJobsOptions & ScheduleOptions = {},
): ScheduledTask {
  const guard = requireGuard(options.guard, 'scheduleLocked');
  const schedule = { ...options, expression };
  checkSchedule(schedule, ['guard']);
  const { timeZone } = schedule;
  const { oncePer } = configuration;
  const locked = {
    ...configuration,
    oncePer: oncePer && { ...oncePer, timeZone: oncePer.timeZone ?? timeZone },
  };
  const call = (): LockedTask<unknown> => task;
  const place = `scheduleLocked('${expression}')`;
  const schedules = [schedule];
  const nextAfter = nextTimeOf(schedules);
  const declaration = { place, configuration: locked, call, schedules, nextAfter };
  const integration = integrationOf(guard);
  const [job] = integration.admit([declaration]);
  warnOfSkippedDates(integration, [declaration]);
  const scheduled = scheduleTask(schedule, locked.name, async (scheduledAt) => {
    const tick = { task, args: [], call, scheduledAt };
    const result = await integration.execute(job, tick).catch(() => undefined); // An event has reported it.
    return result?.executed ? result.value : undefined;
  });
  onDroppedTicks(scheduled, (ticks, error) => integration.dropTicks(job, ticks, error));
  guard.onClose({ stop: async () => await scheduled.destroy() });
  return scheduled;
}
