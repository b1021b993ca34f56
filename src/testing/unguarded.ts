import { InvalidLockUseError } from '../core';
import { guardedMethodOf, layersOf } from '../guard/calls/guarded-method';

/* eslint-disable @typescript-eslint/no-explicit-any -- accepts methods with any arguments */

type MethodName<T> = { [K in keyof T]: T[K] extends (...args: any[]) => any ? K : never }[keyof T];

/**
 * Returns the handler of a guarded method without its lock, for tests of what the job does.
 *
 * @throws InvalidLockUseError if the method is not guarded, because then the test would prove nothing
 */
export function unguarded<T extends object, K extends MethodName<T>>(instance: T, method: K): T[K] {
  const guarded = guardedMethodOf(instance[method], ...layersOf(instance, method as string));
  if (guarded === undefined)
    throw new InvalidLockUseError(
      `unguarded() needs a method with @SchedulerLock or @OncePer…, but ${instance.constructor.name}.${String(method)} has neither. Add one of them.`,
    );
  return guarded.original.bind(instance) as T[K];
}
