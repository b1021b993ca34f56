import type { ScheduledTask } from 'node-cron';
import { InvalidLockConfigurationError } from '../../core';
import type { JobGuard } from '../../guard';
import { bindGuard, requiredGuard } from '../../guard/configured-guard';
import { invoke } from '../../guard/invocation';
import { scheduleTask, type CronSchedule } from './cron-schedule';
import { scheduledMethodsOf, type ScheduledMethod } from './scheduled-methods';

export interface ScheduleJobsOptions {
  /** Default: the guard given to `configureJobGuard`. */
  readonly guard?: JobGuard | undefined;
}

/** Which method has which lock, for each guard. */
const placesOf = new WeakMap<JobGuard, Map<string, ScheduledMethod>>();

/**
 * Makes a node-cron task of every `@Scheduled` method of the instances, and binds the instances to the guard. All is
 * checked before the first task is made. Failures become events and log lines: they neither end the process nor keep
 * later ticks from coming. `guard.close()` stops the tasks.
 *
 * @throws InvalidLockConfigurationError for durations and names that cannot be meant, and for a lock name on two methods
 * without `shared: true`
 * @throws InvalidLockUseError for an instance without scheduled methods, or with one that has no lock
 * @throws NotConfiguredError without any guard
 */
export function scheduleJobs(
  instances: object | readonly object[],
  options: ScheduleJobsOptions = {},
): ScheduledTask[] {
  const guard = requiredGuard(options.guard, 'scheduleJobs');
  const methods = [instances].flat().flatMap(scheduledMethodsOf);
  const places = new Map(placesOf.get(guard));
  for (const method of methods) {
    guard.check(method.guarded.configuration);
    claimName(places, method);
  }
  placesOf.set(guard, places);
  for (const { instance } of methods) bindGuard(instance, guard);
  const tasks = methods.flatMap((method) =>
    method.schedules.map((schedule) => scheduleMethod(method, schedule)),
  );
  guard.onClose({
    stop: async () => void (await Promise.all(tasks.map(async (task) => await task.destroy()))),
  });
  return tasks;
}

function claimName(places: Map<string, ScheduledMethod>, method: ScheduledMethod): void {
  const { name, shared } = method.guarded.configuration;
  const earlier = places.get(name);
  if (earlier !== undefined && !(shared && earlier.guarded.configuration.shared)) {
    throw new InvalidLockConfigurationError(
      `Lock '${name}' is on ${earlier.place} and on ${method.place}: give one of them another name, or say shared: true on both if they are to exclude each other.`,
    );
  }
  places.set(name, method);
}

function scheduleMethod({ instance, key, place }: ScheduledMethod, schedule: CronSchedule): ScheduledTask {
  return scheduleTask(schedule, place, async (scheduledAt) => {
    const reported = new Set<unknown>();
    try {
      const method = (instance as Record<string | symbol, () => Promise<unknown>>)[key];
      return await invoke(
        { scheduledAt, reported: (error) => reported.add(error) },
        async () => await method?.call(instance),
      );
    } catch (error) {
      // What the guard has reported ends here; what came from outside of it is for node-cron to report.
      if (reported.has(error)) return undefined;
      throw error;
    }
  });
}
