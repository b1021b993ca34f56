import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import {
  InvalidLockConfigurationError,
  type Lock,
  type LockConfiguration,
  type LockObserver,
  type LockProvider,
} from '../../core';

export const JOB = { name: 'contract', lockAtMostFor: '10m' } as const satisfies LockConfiguration;
export const AT_LEAST = { ...JOB, lockAtLeastFor: '2m' } as const satisfies LockConfiguration;

export async function granted(
  provider: LockProvider,
  configuration: LockConfiguration,
  observer?: LockObserver,
): Promise<Lock> {
  const lock = await provider.lock(configuration, observer);
  assert.ok(lock !== undefined, `lock '${configuration.name}' should have been granted`);
  return lock;
}

export async function refused(provider: LockProvider, configuration: LockConfiguration): Promise<void> {
  const lock = await provider.lock(configuration);
  assert.equal(lock, undefined, `lock '${configuration.name}' should have been refused`);
}

/** A configuration that cannot be meant, told as such, with `named` in the message. */
export async function invalid(provider: LockProvider, configuration: unknown, named = ''): Promise<void> {
  let found = 'an answer';
  try {
    await provider.lock(configuration as LockConfiguration);
  } catch (error) {
    if (error instanceof InvalidLockConfigurationError && error.message.includes(named)) return;
    found = String(error);
  }
  assert.fail(
    `${inspect(configuration, { maxStringLength: 100 })} should have been refused as invalid${
      named && ` by a message with '${named}'`
    }, but there was ${found}`,
  );
}

export function tokenOf({ fencingToken }: Lock): number {
  assert.ok(Number.isSafeInteger(fencingToken), 'the store should give fencing tokens');
  return fencingToken as number;
}

export function assertRising(tokens: readonly number[]): void {
  const rising = [...new Set(tokens)].sort((a, b) => a - b);
  assert.deepEqual(tokens, rising, 'fencing tokens should rise with every grant');
}
