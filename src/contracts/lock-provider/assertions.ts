import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { InvalidLockConfigurationError } from '../../core';
import type {
  Duration,
  Lock,
  LockConfiguration,
  LockLostError,
  LockObserver,
  LockProvider,
} from '../../core';
import { afterRealTime } from '../real-time';
import type { Instances } from './fixture';

export const JOB: LockConfiguration = { name: 'contract', lockAtMostFor: '10m' };
export const SECOND: LockConfiguration = { ...JOB, name: 'contract-2' };
export const AT_LEAST: LockConfiguration = { ...JOB, lockAtLeastFor: '2m' };

export async function granted(
  provider: LockProvider,
  configuration = JOB,
  observer?: LockObserver,
): Promise<Lock> {
  const lock = await provider.lock(configuration, observer);
  assert.ok(lock !== undefined, `lock '${configuration.name}' should have been granted`);
  return lock;
}

export async function refused(provider: LockProvider, configuration = JOB): Promise<void> {
  const lock = await provider.lock(configuration);
  assert.equal(lock, undefined, `lock '${configuration.name}' should have been refused`);
}

export async function released(provider: LockProvider, configuration = JOB): Promise<Lock> {
  const lock = await granted(provider, configuration);
  assert.equal(await lock.unlock(), true, `unlock of lock '${configuration.name}' should have returned true`);
  return lock;
}

/** A lock that was granted, and whose lease has expired: its holder has crashed, or is stale. */
export async function expired({ provider, elapse }: Instances): Promise<Lock> {
  const lock = await granted(provider);
  await elapse('10m');
  return lock;
}

export async function observed(provider: LockProvider, configuration = JOB) {
  const observer = new RecordingObserver();
  return { lock: await granted(provider, configuration, observer), observer };
}

/** Asserts that the lock, and the trust of its holder, last until this much time has passed. */
export async function freeAfter(
  { other, elapse }: Instances,
  rest: Duration,
  configuration = JOB,
  holder?: Lock,
): Promise<void> {
  assert.equal(holder?.signal.aborted ?? false, false, 'the signal aborted before the end of the lease');
  await refused(other, configuration);
  await elapse(rest);
  assert.equal(holder?.signal.aborted ?? true, true, 'the signal should abort at the end of the lease');
  await granted(other, configuration);
}

/** Asserts that the lock, and the trust of its holder, last longer than `early` and end after `rest`. */
export async function freeOnlyAfter(
  instances: Instances,
  [early, rest]: readonly [early: Duration, rest: Duration],
  configuration?: LockConfiguration,
  holder?: Lock,
): Promise<void> {
  await instances.elapse(early);
  await freeAfter(instances, rest, configuration, holder);
}

/** Asserts that the configuration is refused as invalid, with a message that contains `named`. */
export async function invalid(provider: LockProvider, configuration: unknown, named = ''): Promise<void> {
  let found = 'a result';
  try {
    await provider.lock(configuration as LockConfiguration);
  } catch (error) {
    if (error instanceof InvalidLockConfigurationError && error.message.includes(named)) return;
    found = String(error);
  }
  const shown = inspect(configuration, { maxStringLength: 100 });
  const message = named && ` with a message that contains '${named}'`;
  assert.fail(`${shown} should have been refused as invalid${message}, but the result was ${found}`);
}

export function tokenOf({ fencingToken }: Lock): number {
  assert.ok(Number.isSafeInteger(fencingToken), 'the store should return fencing tokens');
  return fencingToken as number;
}

export function assertRising(grants: readonly (Lock | number)[]): void {
  const tokens = grants.map((grant) => (typeof grant === 'number' ? grant : tokenOf(grant)));
  const rising = [...new Set(tokens)].sort((a, b) => a - b);
  assert.deepEqual(tokens, rising, 'fencing tokens should rise with every grant');
}

/** Below the five seconds after which test runners stop a test without reporting what it waited for. */
const GIVE_UP_AFTER_MS = 4000;

/** Records its calls, so that a case can wait for a call instead of for time. */
class RecordingObserver implements LockObserver {
  readonly losses: LockLostError[] = [];
  readonly #waiting = new Map<string, () => void>();

  readonly extended = (): void => this.#waiting.get('extended')?.();

  readonly lost = (error: LockLostError): void => {
    this.losses.push(error);
    this.#waiting.get('lost')?.();
  };

  /** Resolves when `act` has caused this call. */
  async until(called: 'extended' | 'lost', act: () => unknown): Promise<void> {
    const call = new Promise<void>((resolve) => this.#waiting.set(called, resolve));
    const calledInTime = inTime(call, `The observer got no call of '${called}'`);
    await act();
    await calledInTime;
  }
}

/** Rejects if the promise takes longer than any case should. */
export function inTime(awaited: Promise<void>, failure: string): Promise<void> {
  const result = new Promise<void>((resolve, reject) => {
    const giveUp = (): void => reject(new Error(`${failure} within ${GIVE_UP_AFTER_MS} ms.`));
    const cancel = afterRealTime(GIVE_UP_AFTER_MS, giveUp);
    awaited.finally(cancel).then(resolve, reject);
  });
  result.catch(() => {}); // A case that fails before it waits reports its own error.
  return result;
}
