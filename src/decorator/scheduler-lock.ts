import { InvalidLockUseError, type Duration, type LockConfiguration } from '../core';
import { describeValue } from '../core/describe-value';
import { checkDeclaredConfiguration } from '../core/lock-configuration';
import { guardMethod } from './guard-method';
import type { AnyMethod, SchedulerLockDecorator } from './skippable';

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
  return ((...args: unknown[]) => decorate(configuration, args)) as SchedulerLockDecorator;
}

function decorate(configuration: LockConfiguration, [first, second, third]: unknown[]): unknown {
  if (isStandardContext(second)) {
    const guarded = (value: unknown): AnyMethod =>
      guardMethod(methodOf(configuration, value), configuration, String(second.name));
    switch (second.kind) {
      case 'method':
        return guarded(first);
      case 'field':
        return (initial: unknown) => guarded(initial);
      default:
        return refuse(configuration, second.kind === 'class' ? 'a class' : 'an accessor');
    }
  }
  const descriptor = third as PropertyDescriptor | undefined;
  if (descriptor === undefined) {
    return refuse(
      configuration,
      'a field or a class, which legacy decorators (experimentalDecorators) do not hand over',
    );
  }
  if ((descriptor.get ?? descriptor.set) !== undefined) return refuse(configuration, 'an accessor');
  descriptor.value = guardMethod(methodOf(configuration, descriptor.value), configuration, String(second));
  return undefined;
}

function isStandardContext(value: unknown): value is { kind: string; name: string | symbol } {
  return typeof value === 'object' && value !== null && 'kind' in value;
}

function methodOf(configuration: LockConfiguration, value: unknown): AnyMethod {
  return typeof value === 'function' ? (value as AnyMethod) : refuse(configuration, describeValue(value));
}

function refuse({ name }: LockConfiguration, what: string): never {
  throw new InvalidLockUseError(
    `@SchedulerLock('${name}') stands on ${what}; it guards methods and fields that hold a function.`,
  );
}
