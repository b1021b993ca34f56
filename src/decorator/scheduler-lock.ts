import type { Duration, LockConfiguration } from '../core';
import { checkDeclaredConfiguration } from '../core/lock-configuration';
import { parseEnabled } from '../guard/enabled';
import type { MethodOptions } from '../guard/job-guard-options';
import { checkOnSkip } from '../guard/on-skip';
import { functionDecorator } from './function-decorator';
import { guardMethod } from './guard-method';
import type { SchedulerLockDecorator, ThrowingLockDecorator } from './skippable';

/**
 * Runs the decorated method under this lock, on one instance at a time. A call that does not get the lock resolves to
 * `undefined` at once, or with `onSkip: 'throw'` rejects with a `JobSkippedError`. Works with legacy and standard decorators, in any order with other decorators.
 *
 * The decorated method is asynchronous. It rejects with its own errors, and with a `LockStorageError` if the store did
 * not confirm the lock; the method then did not run.
 *
 * @param lockAtMostFor how long a crashed run may block the next one. Default: the guard's `defaultLockAtMostFor`
 * @param lockAtLeastFor how long the lock is kept from its start, even if the run is shorter. Covers clocks that differ
 * @throws InvalidLockConfigurationError when the decorator is applied, naming the lock and the value
 * @throws InvalidLockUseError if the target is not a function, or already has a lock
 */
export function SchedulerLock(
  name: string,
  lockAtMostFor?: Duration,
  lockAtLeastFor?: Duration,
): SchedulerLockDecorator;
export function SchedulerLock(
  configuration: LockConfiguration & MethodOptions & { readonly onSkip: 'throw' },
): ThrowingLockDecorator;
export function SchedulerLock(configuration: LockConfiguration & MethodOptions): SchedulerLockDecorator;
export function SchedulerLock(
  first: string | (LockConfiguration & MethodOptions),
  lockAtMostFor?: Duration,
  lockAtLeastFor?: Duration,
): SchedulerLockDecorator | ThrowingLockDecorator {
  const configuration: LockConfiguration & MethodOptions =
    typeof first === 'object' ? { ...first } : { name: first, lockAtMostFor, lockAtLeastFor };
  checkDeclaredConfiguration(configuration);
  parseEnabled(configuration.enabled, configuration.name);
  checkOnSkip(configuration.onSkip, configuration.name);
  return functionDecorator(`@SchedulerLock('${configuration.name}')`, (method, { name }) =>
    guardMethod(method, name, (definition) => definition.addLock(configuration)),
  ) as SchedulerLockDecorator;
}
