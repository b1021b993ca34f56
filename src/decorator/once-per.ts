import { InvalidLockConfigurationError } from '../core';
import { describeValue } from '../core/options';
import type { OncePerConfiguration, OncePerOptions, PeriodKeyFunction, PeriodKind } from '../ledger';
import type { MethodOptions } from '../guard/jobs/job-guard-options';
import { checkMethodOptions, checkOncePerOptions } from '../guard/jobs/check-options';
import { parseJobPolicy } from '../ledger/policy/job-policy';
import { functionDecorator } from './function-decorator';
import { guardMethod } from './guard-method';
import type { SchedulerLockDecorator, ThrowingLockDecorator } from './skippable';

/**
 * Runs the decorated method once in each period. After it has completed, no instance, tick or call runs it again in that
 * period, and such a call resolves to `undefined`. If it fails or its holder crashes, its run is overdue, and the guard
 * retries it.
 *
 * With `@SchedulerLock`, in any order, it runs under that lock. Without it, the job gets a lock with its `name` and the
 * guard's `defaultLockAtMostFor`, which cronlatch keeps alive.
 *
 * @param period `'hour'`, `'day'`, `'week'` (ISO 8601), `'month'`, `'quarter'`, `'year'`, or a function that returns the
 * period key of an instant
 * @throws InvalidLockConfigurationError when the decorator is applied, naming the option and its value
 * @throws InvalidLockUseError if the target is not a function, or already runs once per period
 */
export function OncePer(
  period: PeriodKind | PeriodKeyFunction,
  options: OncePerOptions & MethodOptions & { readonly onSkip: 'throw' },
): ThrowingLockDecorator;
export function OncePer(
  period: PeriodKind | PeriodKeyFunction,
  options?: OncePerOptions & MethodOptions,
): SchedulerLockDecorator;
export function OncePer(
  period: PeriodKind | PeriodKeyFunction,
  options: OncePerOptions & MethodOptions = {},
): SchedulerLockDecorator | ThrowingLockDecorator {
  const what = typeof period === 'function' ? 'a key function' : describeValue(period);
  return oncePer(`@OncePer(${what})`, options, period);
}

/** Runs the decorated method once per business day, as `@OncePer('day')`. */
export function OncePerDay(
  options: OncePerOptions & MethodOptions & { readonly onSkip: 'throw' },
): ThrowingLockDecorator;
export function OncePerDay(options?: OncePerOptions & MethodOptions): SchedulerLockDecorator;
export function OncePerDay(
  options: OncePerOptions & MethodOptions = {},
): SchedulerLockDecorator | ThrowingLockDecorator {
  return oncePer('@OncePerDay()', options, 'day');
}

function oncePer(
  label: string,
  options: OncePerOptions & MethodOptions,
  period: OncePerConfiguration['period'],
): SchedulerLockDecorator {
  if (typeof options !== 'object' || options === null)
    throw new InvalidLockConfigurationError(
      `Invalid options for a once-per job: ${describeValue(options)}. Pass an object, for example { timeZone: 'Europe/Paris' }.`,
    );
  const policy = { ...options, period };
  const job = options.name ?? label;
  checkOncePerOptions(policy, job);
  // The time zone and the name may still come from other decorators on the method.
  parseJobPolicy({ ...policy, timeZone: options.timeZone ?? 'UTC' }, job);
  checkMethodOptions(policy, job);
  return functionDecorator(label, (method, name) =>
    guardMethod(method, name, { oncePer: policy, origin: policy }),
  ) as SchedulerLockDecorator;
}
