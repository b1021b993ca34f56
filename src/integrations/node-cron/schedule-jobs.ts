import type { ScheduledTask, TaskContext } from 'node-cron';
import { InvalidLockUseError, type LockedTask } from '../../core';
import { checkOptionNames } from '../../core/options';
import type { GuardConfiguration, JobGuard } from '../../guard';
import { bindGuard, requireGuard } from '../../guard/configured-guard';
import { callsOf } from '../../guard/calls/calls';
import {
  chainOf,
  configurationOf,
  guardedMethodOf,
  layersOf,
  methodCall,
  schedulesOf,
} from '../../guard/calls/guarded-method';
import { invokeTick } from '../../guard/calls/invocation';
import type { JobDeclaration } from '../../guard/jobs/job';
import { checkedSchedule, type CronSchedule, type ScheduleOptions } from './cron-schedule';
import { scheduleTask } from './scheduled-task';

export interface ScheduleJobsOptions {
  /** Default: the guard that was passed to `configureJobGuard`. */
  readonly guard?: JobGuard | undefined;
}

/** Instances whose tasks are not stopped yet. */
const scheduled = new WeakSet<object>();

/**
 * Creates a node-cron task for every `@Scheduled` method of the instances. From then on, all guarded methods of the
 * instances use this guard. Everything is checked before the first task is created. Failures become events and log
 * lines. They neither end the process nor stop later ticks. `guard.close()` stops the tasks.
 *
 * @throws InvalidLockConfigurationError for an invalid name or duration, and if two methods have the same lock without
 * `shared: true`
 * @throws InvalidLockUseError if an instance is already scheduled, has no scheduled method, or has one without a lock, if
 * its class has scheduled static methods and is not passed too, and if the guard is closed
 * @throws NotConfiguredError if there is no guard
 */
export function scheduleJobs(
  instances: object | readonly object[],
  options: ScheduleJobsOptions = {},
): ScheduledTask[] {
  checkOptionNames(options, ['guard'], 'scheduleJobs');
  const guard = requireGuard(options.guard, 'scheduleJobs');
  const all = [instances].flat();
  checkNotScheduled(all);
  const methods = all.flatMap(scheduledMethodsOf);
  for (const instance of all) checkOtherMethods(instance, all);
  const calls = callsOf(guard);
  const jobs = calls.admit(methods);
  for (const instance of all) {
    scheduled.add(instance);
    bindGuard(instance, guard);
  }
  const tasks = jobs.flatMap((job) => {
    const run = (context: TaskContext) =>
      invokeTick(scheduledTimeOf(context), job.call([]) as () => Promise<unknown>);
    return job.schedules.map((cron) => scheduleTask(calls, job, { ...cron, name: job.place }, run));
  });
  calls.announce();
  guard.onClose({
    async stop() {
      await Promise.all(tasks.map(async (task) => await task.destroy()));
      for (const instance of all) scheduled.delete(instance);
    },
  });
  return tasks;
}

function checkNotScheduled(instances: readonly object[]): void {
  for (const [index, instance] of instances.entries()) {
    if (!scheduled.has(instance) && instances.indexOf(instance) === index) continue;
    throw new InvalidLockUseError(
      `This ${classNameOf(instance)} is already scheduled, so each of its jobs would start twice. Schedule each instance once.`,
    );
  }
}

/** `undefined` for a manual call, whose date is just the host's current time. */
function scheduledTimeOf({ date, execution }: TaskContext): Date | undefined {
  return execution?.reason === 'invoked' ? undefined : date;
}

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
  const cron = checkedSchedule(expression, options, ['guard']);
  const { oncePer } = configuration;
  const timeZone = oncePer?.timeZone ?? options.timeZone;
  const locked = { ...configuration, oncePer: oncePer && { ...oncePer, timeZone } };
  const call = (): LockedTask<unknown> => task;
  const place = `scheduleLocked('${expression}')`;
  const declaration = { place, configuration: locked, call, schedules: [cron], isAccepted: true } as const;
  const calls = callsOf(guard);
  const job = calls.admitOne(declaration);
  const created = scheduleTask(calls, job, { ...cron, name: locked.name }, async (context) => {
    const tick = { task, args: [], call, scheduledAt: scheduledTimeOf(context) };
    const result = await calls.execute(job, tick).catch(() => undefined); // An event has reported it.
    return result?.executed ? result.value : undefined;
  });
  calls.announce();
  guard.onClose({ stop: async () => await created.destroy() });
  return created;
}

interface ScheduledMethod extends JobDeclaration {
  readonly schedules: readonly CronSchedule[];
}

/** @throws InvalidLockUseError if the instance has no scheduled method, or one that would run unguarded */
function scheduledMethodsOf(instance: object): ScheduledMethod[] {
  const found = scheduledKeys(instance).map((key) => scheduledMethodOf(instance, key));
  if (found.length > 0) return found;
  throw new InvalidLockUseError(
    `${classNameOf(instance)} has no method with @Scheduled, so there is nothing to schedule.`,
  );
}

/** @throws InvalidLockUseError for a scheduled static method of the class of an instance, or the reverse, if it is forgotten */
function checkOtherMethods(instance: object, all: readonly object[]): void {
  const isClass = typeof instance === 'function';
  const other = Object(isClass ? instance.prototype : instance.constructor) as object;
  const isForgotten = (key: string | symbol): boolean =>
    all.every((each) => Reflect.get(each, key) !== Reflect.get(other, key));
  const key = scheduledKeys(other).find(isForgotten);
  if (key === undefined) return;
  throw new InvalidLockUseError(
    `${classNameOf(instance)}.${String(key)} has @Scheduled, but would never run. It needs ${isClass ? 'an instance' : 'its class'} in the same call of scheduleJobs.`,
  );
}

function scheduledKeys(instance: object): (string | symbol)[] {
  const keys = new Set(chainOf(instance).flatMap((holder) => Reflect.ownKeys(holder)));
  return [...keys].filter((key) => schedulesAt(instance, key).length > 0);
}

/** An override hides the schedules of the inherited method. */
function schedulesAt(instance: object, key: string | symbol): CronSchedule[] {
  return [...new Set(layersOf(instance, key).flatMap(schedulesOf))] as CronSchedule[];
}

/** For a class whose static methods are scheduled, the name of that class. */
function classNameOf(instance: object): string {
  if (typeof instance === 'function') return instance.name;
  return 'constructor' in instance ? instance.constructor.name : 'Object';
}

function scheduledMethodOf(instance: object, key: string | symbol): ScheduledMethod {
  const schedules = schedulesAt(instance, key);
  const place = `${classNameOf(instance)}.${String(key)}`;
  const guarded = guardedMethodOf(...layersOf(instance, key));
  if (guarded !== undefined) {
    const configuration = configurationOf(guarded);
    const call = methodCall(instance, key);
    return { place, configuration, instance, call, schedules, isAccepted: true };
  }
  throw new InvalidLockUseError(
    `${place} has @Scheduled but neither @SchedulerLock nor @OncePer…, so it would run on every instance at once. Add one of them.`,
  );
}
