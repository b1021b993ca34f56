import type { ScheduledTask } from 'node-cron';
import { InvalidLockUseError } from '../../core';
import type { JobGuard } from '../../guard';
import { bindGuard } from '../../guard/bound-guard';
import { requireGuard } from '../../guard/configured-guard';
import type { GuardIntegration } from '../../guard/integration';
import { integrationOf } from '../../guard/job-guard';
import { invokeTick } from '../../guard/invocation';
import type { AdmittedJob } from '../../guard/job';
import { scheduleTask, type CronSchedule } from './cron-schedule';
import { onDroppedTicks } from './dropped-ticks';
import { classNameOf, scheduledMethodsOf } from './scheduled-methods';
import { warnOfSkippedDates } from './skipped-dates';

export interface ScheduleJobsOptions {
  /** Default: the guard given to `configureJobGuard`. */
  readonly guard?: JobGuard | undefined;
}

/** Instances whose tasks were not stopped. */
const scheduled = new WeakSet<object>();

/**
 * Makes a node-cron task of every `@Scheduled` method of the instances, and binds the instances to the guard. All is
 * checked before the first task is made. Failures become events and log lines: they neither end the process nor keep
 * later ticks from coming. `guard.close()` stops the tasks.
 *
 * @throws InvalidLockConfigurationError for durations and names that cannot be meant, and for a lock name on two methods
 * without `shared: true`
 * @throws InvalidLockUseError for an instance that is scheduled already, that has no scheduled methods, or one without
 * a lock; and with a guard that is closed
 * @throws NotConfiguredError without any guard
 */
export function scheduleJobs(
  instances: object | readonly object[],
  options: ScheduleJobsOptions = {},
): ScheduledTask[] {
  const guard = requireGuard(options.guard, 'scheduleJobs');
  const all = [instances].flat();
  refuseTwice(all);
  const methods = all.flatMap(scheduledMethodsOf);
  const integration = integrationOf(guard);
  const jobs = integration.admit(methods);
  warnOfSkippedDates(integration, methods);
  for (const instance of all) {
    scheduled.add(instance);
    bindGuard(instance, guard);
  }
  const tasks = jobs.flatMap((job, index) =>
    (methods[index]?.schedules ?? []).map((schedule) => scheduleMethod(integration, job, schedule)),
  );
  guard.onClose({
    async stop() {
      await Promise.all(tasks.map(async (task) => await task.destroy()));
      for (const instance of all) scheduled.delete(instance);
    },
  });
  return tasks;
}

function refuseTwice(instances: readonly object[]): void {
  for (const [index, instance] of instances.entries()) {
    if (!scheduled.has(instance) && instances.indexOf(instance) === index) continue;
    throw new InvalidLockUseError(
      `This ${classNameOf(instance)} is scheduled already: each of its jobs would be started twice.`,
    );
  }
}

function scheduleMethod(
  integration: GuardIntegration,
  job: AdmittedJob,
  schedule: CronSchedule,
): ScheduledTask {
  const call = job.call([]) as () => Promise<unknown>;
  const task = scheduleTask(schedule, job.place, (scheduledAt) => invokeTick(scheduledAt, call));
  onDroppedTicks(task, (ticks, error) => integration.dropTicks(job, ticks, error));
  return task;
}
