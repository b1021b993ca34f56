import { InvalidLockConfigurationError } from '../core';
import { describeValue } from '../core/describe-value';
import type { OncePerConfiguration, OncePerOptions, PeriodKeyFunction, PeriodKind } from '../ledger';
import { parseJobPolicy } from '../ledger/policy/job-policy';
import { functionDecorator } from './function-decorator';
import { guardMethod } from './guard-method';
import type { SchedulerLockDecorator } from './skippable';

/**
 * The decorated method runs once in each period: when it has been completed, it is not run again in that period by any
 * instance, tick or call; when it has failed, or its holder vanished, it is still overdue. A call that is refused resolves
 * to `undefined`.
 *
 * It stands in either order with `@SchedulerLock`, whose lock it runs under. Alone it has a lock of its own: of its
 * `name`, for the guard's `defaultLockAtMostFor`, kept alive.
 *
 * @param period `'hour'`, `'day'`, `'week'` (ISO 8601), `'month'`, `'quarter'`, `'year'`, or a function that makes a key
 * of an instant
 * @throws InvalidLockConfigurationError when it is applied, naming the option and its value
 * @throws InvalidLockUseError on what holds no function, or is once per period already
 */
export function OncePer(
  period: PeriodKind | PeriodKeyFunction,
  options: OncePerOptions = {},
): SchedulerLockDecorator {
  const what = typeof period === 'function' ? 'a key function' : describeValue(period);
  return oncePer(`@OncePer(${what})`, { ...checked(options), period });
}

/** `@OncePer('day')`: once per business day. */
export function OncePerDay(options: OncePerOptions = {}): SchedulerLockDecorator {
  return oncePer('@OncePerDay()', { ...checked(options), period: 'day' });
}

function oncePer(label: string, policy: OncePerConfiguration): SchedulerLockDecorator {
  // What only others can tell, a zone and a name, may still come from the decorators beside it.
  parseJobPolicy({ ...policy, timeZone: policy.timeZone ?? 'UTC' }, policy.name ?? label);
  return functionDecorator(label, (method, { name }) =>
    guardMethod(method, name, (definition) => definition.addOncePer(policy)),
  ) as SchedulerLockDecorator;
}

function checked(options: OncePerOptions): OncePerOptions {
  if (typeof options === 'object' && options !== null) return options;
  throw new InvalidLockConfigurationError(
    `${describeValue(options)} cannot be the options of a once-per job: give it an object, as in { timeZone: 'Europe/Paris' }.`,
  );
}
