import { InvalidLockUseError, type LockConfiguration } from '../core';
import { guardOf } from '../guard/configured-guard';
import { guardedMethodOf, markGuarded } from '../guard/guarded-method';
import { takeInvocation } from '../guard/invocation';
import type { AnyMethod } from './skippable';

/** The method, run under its lock. To other decorators it looks like the method itself. */
export function guardMethod(
  method: AnyMethod,
  configuration: LockConfiguration,
  methodName: string,
): AnyMethod {
  const earlier = guardedMethodOf(method);
  if (earlier !== undefined) {
    throw new InvalidLockUseError(
      `Method '${methodName}' has @SchedulerLock twice: '${earlier.configuration.name}' and '${configuration.name}'. Keep one.`,
    );
  }
  async function guarded(this: unknown, ...args: unknown[]): Promise<unknown> {
    return await takeInvocation(async (invocation) => {
      const guard = guardOf(this, configuration.name);
      const task = (): unknown => method.apply(this, args) as unknown;
      try {
        const result = await guard.run({ ...configuration, scheduledAt: invocation?.scheduledAt }, task);
        return result.executed ? result.value : undefined;
      } catch (error) {
        invocation?.reported?.(error);
        throw error;
      }
    });
  }
  copyAppearance(method, guarded);
  markGuarded(guarded, { configuration, original: method, methodName });
  return guarded;
}

/** What reflect-metadata adds to `Reflect`, where an application loaded it. */
interface ReflectMetadata {
  getOwnMetadataKeys?(target: object): unknown[];
  getOwnMetadata?(key: unknown, target: object): unknown;
  defineMetadata?(key: unknown, value: unknown, target: object): void;
}

/** Name, length, own properties and Reflect metadata: schedulers find their marks on the function. */
function copyAppearance(from: AnyMethod, to: AnyMethod): void {
  for (const key of Reflect.ownKeys(from)) {
    const descriptor = Object.getOwnPropertyDescriptor(from, key);
    if (key !== 'prototype' && descriptor !== undefined) Object.defineProperty(to, key, descriptor);
  }
  const reflect = Reflect as ReflectMetadata;
  for (const key of reflect.getOwnMetadataKeys?.(from) ?? [])
    reflect.defineMetadata?.(key, reflect.getOwnMetadata?.(key, from), to);
}
