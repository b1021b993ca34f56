import assert from 'node:assert/strict';
import type { RunStore } from '../../ledger/run-store';
import { nowOf } from './runs';

/** Instants that were rounded apart, by the store and on the way, are one. */
const ROUNDED_MS = 1;

/** Much more than a case takes, and less than the time that it lets pass. */
const A_WHILE_MS = 30_000;

/** Does what is to be dated, and then says whether an instant is the store's now of that. */
export async function duringNow<T>(store: RunStore, act: () => Promise<T>) {
  const from = (await nowOf(store)).getTime() - ROUNDED_MS;
  const value = await act();
  const to = (await nowOf(store)).getTime() + ROUNDED_MS;
  const isNow = (instant: Date | undefined, what: string): void => {
    assert.ok(instant instanceof Date, `${what} should be an instant`);
    const ms = instant.getTime();
    assert.ok(from <= ms && ms <= to, `${what} is ${instant.toISOString()}, which is not the store's now`);
  };
  return { value, isNow };
}

/** So long ago that an instant was, by the store's clock. */
export async function assertAge(store: RunStore, instant: Date | undefined, ageMs: number): Promise<void> {
  assert.ok(instant instanceof Date, 'should be an instant');
  const differenceMs = (await nowOf(store)).getTime() - instant.getTime() - ageMs;
  assert.ok(
    -ROUNDED_MS <= differenceMs && differenceMs < A_WHILE_MS,
    `${instant.toISOString()} is ${differenceMs} ms further back than it should be`,
  );
}

export function assertApart(earlier: Date | undefined, later: Date | undefined, ms: number): void {
  assert.ok(earlier instanceof Date && later instanceof Date, 'should be instants');
  assert.ok(Math.abs(later.getTime() - earlier.getTime() - ms) <= ROUNDED_MS, `should be ${ms} ms apart`);
}
