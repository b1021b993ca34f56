import { LockStorageError } from '../../core';
import { afterRealTime } from '../real-time';

const MOST_ATTEMPTS = 200;

/** Asks again when other transactions were in the way, as the ledger does. */
export async function patiently<T>(act: () => Promise<T>): Promise<T> {
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

/** So many at once, every second one through the other instance. */
export async function atOnce<S, T>(
  count: number,
  [one, other]: readonly [S, S],
  act: (store: S, i: number) => Promise<T>,
): Promise<T[]> {
  return await Promise.all(
    Array.from({ length: count }, (_, i) => patiently(() => act(i % 2 ? other : one, i))),
  );
}
