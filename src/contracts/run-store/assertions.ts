import assert from 'node:assert/strict';
import { LockStorageError } from '../../core';
import type { RunStore } from '../../ledger/run-store';
import { afterRealTime } from '../real-time';
import { nowOf } from './runs';

/** Stores and drivers round instants differently. */
const ROUNDED_MS = 1;

/** Much longer than a case takes, and shorter than the time that a case lets pass. */
const A_WHILE_MS = 30_000;

/** Runs `act` between two reads of the store's clock. The result can check that an instant lies between them. */
export async function readClockAround<T>(store: RunStore, act: () => Promise<T>) {
  const from = (await nowOf(store)).getTime() - ROUNDED_MS;
  const value = await act();
  const to = (await nowOf(store)).getTime() + ROUNDED_MS;
  const assertIsNow = (instant: Date | undefined, what: string): void => {
    assert.ok(instant instanceof Date, `${what} should be an instant`);
    const ms = instant.getTime();
    assert.ok(from <= ms && ms <= to, `${what} is ${instant.toISOString()}, which is not the store's now`);
  };
  return { value, assertIsNow };
}

/** Asserts the age of the instant, by the store's clock. */
export async function assertAge(store: RunStore, instant: Date | undefined, ageMs: number): Promise<void> {
  assert.ok(instant instanceof Date, 'should be an instant');
  const differenceMs = (await nowOf(store)).getTime() - instant.getTime() - ageMs;
  assert.ok(
    -ROUNDED_MS <= differenceMs && differenceMs < A_WHILE_MS,
    `${instant.toISOString()} is ${differenceMs} ms older than it should be`,
  );
}

export function assertApart(earlier: Date | undefined, later: Date | undefined, ms: number): void {
  assert.ok(earlier instanceof Date && later instanceof Date, 'should be instants');
  assert.ok(Math.abs(later.getTime() - earlier.getTime() - ms) <= ROUNDED_MS, `should be ${ms} ms apart`);
}

const MOST_ATTEMPTS = 200;

/** Retries after contention with other transactions, as the ledger does. */
export async function retryContention<T>(act: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      const contended = error instanceof LockStorageError && error.outcome === 'contention';
      if (!contended || attempt === MOST_ATTEMPTS) throw error;
      await new Promise<void>((resolve) => afterRealTime(10 * Math.random(), resolve));
    }
  }
}

/** Runs `act` this many times at once, every second time through the other instance. */
export async function runConcurrently<S, T>(
  count: number,
  [one, other]: readonly [S, S],
  act: (store: S, i: number) => Promise<T>,
): Promise<T[]> {
  return await Promise.all(
    Array.from({ length: count }, (_, i) => retryContention(() => act(i % 2 ? other : one, i))),
  );
}
