import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import {
  type Duration,
  InvalidLockConfigurationError,
  type Lock,
  type LockConfiguration,
  type LockLostError,
  type LockObserver,
  type LockProvider,
} from '../../core';
import { afterRealTime } from '../real-time';
import type { LockProviderBasics } from './fixture';

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

/** Asserts that the lock, and the trust of its holder, last longer than `early` and end after `rest`. */
export async function freeOnlyAfter(
  { other, elapse }: Pick<LockProviderBasics, 'other' | 'elapse'>,
  [early, rest]: readonly [early: Duration, rest: Duration],
  configuration: LockConfiguration = JOB,
  holder?: Lock,
): Promise<void> {
  await elapse(early);
  assert.equal(holder?.signal.aborted ?? false, false);
  await refused(other, configuration);
  await elapse(rest);
  assert.equal(holder?.signal.aborted ?? true, true);
  await granted(other, configuration);
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
  assert.fail(
    `${inspect(configuration, { maxStringLength: 100 })} should have been refused as invalid${
      named && ` with a message that contains '${named}'`
    }, but the result was ${found}`,
  );
}

export function tokenOf({ fencingToken }: Lock): number {
  assert.ok(Number.isSafeInteger(fencingToken), 'the store should return fencing tokens');
  return fencingToken as number;
}

export function assertRising(tokens: readonly number[]): void {
  const rising = [...new Set(tokens)].sort((a, b) => a - b);
  assert.deepEqual(tokens, rising, 'fencing tokens should rise with every grant');
}

/** Below the five seconds after which test runners stop a test without reporting what it waited for. */
const GIVE_UP_AFTER_MS = 4000;

/** Records its calls, so that a case can wait for a call instead of for time. */
export class RecordingObserver implements LockObserver {
  readonly losses: LockLostError[] = [];
  holder: { heldBy: string; heldUntil: Date } | undefined;
  readonly abandonedSignal?: AbortSignal;
  readonly #waiting = new Map<string, () => void>();

  constructor(abandonedSignal?: AbortSignal) {
    if (abandonedSignal !== undefined) this.abandonedSignal = abandonedSignal;
  }

  readonly extended = (): void => this.#waiting.get('extended')?.();

  readonly lost = (error: LockLostError): void => {
    this.losses.push(error);
    this.#waiting.get('lost')?.();
  };

  readonly refused = (holder: { heldBy: string; heldUntil: Date }): void => void (this.holder = holder);

  /** Resolves at the next call. Call this before the action that causes the call. */
  next(what: 'extended' | 'lost'): Promise<void> {
    const called = new Promise<void>((resolve) => this.#waiting.set(what, resolve));
    return inTime(called, `The observer got no call of '${what}'`);
  }

  /** Lets time pass until the lease was renewed. */
  async renewed(pass: () => void | Promise<void>): Promise<void> {
    const extended = this.next('extended');
    await pass();
    await extended;
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
