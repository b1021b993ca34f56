import assert from 'node:assert/strict';
import type { Lock, LockConfiguration, LockProvider } from '../../core';
import type { LockProviderFixture } from './fixture';

/** Cases by name: a name begins with the promise that it holds. */
export type ContractCases = Readonly<Record<string, (fixture: LockProviderFixture) => Promise<void>>>;

export const JOB = { name: 'contract', lockAtMostFor: '10m' } as const satisfies LockConfiguration;
export const AT_LEAST = { ...JOB, lockAtLeastFor: '2m' } as const satisfies LockConfiguration;

export async function granted(
  provider: LockProvider,
  configuration: LockConfiguration,
  renewals?: Renewals,
): Promise<Lock> {
  const lock = await provider.lock(configuration, renewals);
  assert.ok(lock !== undefined, `lock '${configuration.name}' should have been granted`);
  return lock;
}

export async function refused(provider: LockProvider, configuration: LockConfiguration): Promise<void> {
  assert.equal(
    await provider.lock(configuration),
    undefined,
    `lock '${configuration.name}' should have been refused`,
  );
}

export function tokenOf({ fencingToken }: Lock): number {
  assert.ok(fencingToken !== undefined, 'the store should give fencing tokens');
  return fencingToken;
}

/** Lets a case wait for a renewal instead of for time. */
export class Renewals {
  #told = (): void => {};
  readonly extended = (): void => this.#told();

  next(): Promise<void> {
    return new Promise((resolve) => (this.#told = resolve));
  }
}
