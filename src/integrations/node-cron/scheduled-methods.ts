import { InvalidLockUseError } from '../../core';
import { configurationOf, guardedMethodOf, methodCall } from '../../guard/guarded-method';
import type { JobDeclaration } from '../../guard/jobs/job';
import type { CronSchedule } from './cron-schedule';
import { schedulesOf } from './scheduled';

export interface ScheduledMethod extends JobDeclaration {
  readonly schedules: readonly CronSchedule[];
}

/** @throws InvalidLockUseError if the instance has no scheduled method, or one that would run unguarded */
export function scheduledMethodsOf(instance: object): ScheduledMethod[] {
  const found = new Map<string | symbol, ScheduledMethod>();
  const seen = new Set<string | symbol>();
  for (
    let holder: object | null = instance;
    holder !== null && holder !== Object.prototype;
    holder = Object.getPrototypeOf(holder) as object | null
  ) {
    for (const key of Reflect.ownKeys(holder)) {
      // An override hides the inherited method and its decorators.
      if (seen.has(key)) continue;
      seen.add(key);
      const value: unknown = Object.getOwnPropertyDescriptor(holder, key)?.value;
      const schedules = schedulesOf(value);
      if (schedules.length > 0) found.set(key, describe(instance, key, value, schedules));
    }
  }
  if (found.size > 0) return [...found.values()];
  throw new InvalidLockUseError(
    `${classNameOf(instance)} has no method with @Scheduled, so there is nothing to schedule.`,
  );
}

/** For a class whose static methods are scheduled, the name of that class. */
export function classNameOf(instance: object): string {
  if (typeof instance === 'function') return instance.name;
  return 'constructor' in instance ? instance.constructor.name : 'Object';
}

function describe(
  instance: object,
  key: string | symbol,
  value: unknown,
  schedules: readonly CronSchedule[],
): ScheduledMethod {
  const place = `${classNameOf(instance)}.${String(key)}`;
  const guarded = guardedMethodOf(value);
  if (guarded !== undefined) {
    const configuration = configurationOf(value as () => unknown, guarded);
    return { place, configuration, call: methodCall(instance, key), schedules };
  }
  throw new InvalidLockUseError(
    `${place} has @Scheduled but neither @SchedulerLock nor @OncePer…, so it would run on every instance at once. Add one of them.`,
  );
}
