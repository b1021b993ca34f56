import type { Evidence } from './evidence';

export const STARVED = 'not run by the machine';

/** Longer than a handler takes from its last check of the lease until it leaves. */
const LATE_MS = 100;

/** Whether the event loop of this worker was blocked in this time, although no fault did it. */
export function wasStarved({ journal }: Evidence, worker: number, fromMs: number, untilMs: number): boolean {
  return journal.some(
    (entry) =>
      entry.k === 'stalled' &&
      entry.worker === worker &&
      entry.atMs - entry.fromMs > LATE_MS &&
      entry.fromMs <= untilMs &&
      entry.atMs >= fromMs,
  );
}
