import type { Duration, LockConfiguration } from '../core';
import { checkDeclaredConfiguration } from '../core/lock-configuration';
import { functionDecorator } from './function-decorator';
import { guardMethod } from './guard-method';
import type { SchedulerLockDecorator } from './skippable';

/**
 * The decorated method runs while this lock is held, on one instance at a time; a call that does not get the lock
 * resolves to `undefined` at once. Works with legacy and with standard decorators, in either order with others.
 *
 * The method is asynchronous from then on. It rejects with a `LockStorageError` if it is not known that the lock was
 * obtained (it did not run), and with its own errors.
 *
 * @param lockAtMostFor how long a crashed run may block the next one; left out, the guard's `defaultLockAtMostFor`
 * @param lockAtLeastFor how long the lock is kept from its start, however short the run; covers clocks that differ
 * @throws InvalidLockConfigurationError when it is applied, naming the lock and the value
 * @throws InvalidLockUseError on what holds no function, or has a lock already
 */
export function SchedulerLock(
  name: string,
  lockAtMostFor?: Duration,
  lockAtLeastFor?: Duration,
): SchedulerLockDecorator;
export function SchedulerLock(configuration: LockConfiguration): SchedulerLockDecorator;
export function SchedulerLock(
  first: string | LockConfiguration,
  lockAtMostFor?: Duration,
  lockAtLeastFor?: Duration,
): SchedulerLockDecorator {
  const configuration: LockConfiguration =
    typeof first === 'object' ? { ...first } : { name: first, lockAtMostFor, lockAtLeastFor };
  checkDeclaredConfiguration(configuration);
  return functionDecorator(`@SchedulerLock('${configuration.name}')`, (method, { name }) =>
    guardMethod(method, name, (definition) => definition.addLock(configuration)),
  ) as SchedulerLockDecorator;
}
