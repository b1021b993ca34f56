import type { Story } from './story';

/** The shortest time from the moment at which both processes are ready until the first fire. */
export const LEAD_MS = 1500;
/** After so long without a run, after the last fire, missing fires are lost. */
export const QUIET_MS = 15_000;
/** After so long without a run, with no missing fires, all duplicates have come. */
export const CALM_MS = 2500;

/**
 * Whether no further run is expected.
 *
 * @param nowMs in the machine's time, as `overMs`, the time of the first fire after the row
 */
export function isSettled({ slots, runs }: Story, nowMs: number, overMs: number): boolean {
  const idleMs = nowMs - Math.max(overMs, ...runs.map(({ endedMs }) => endedMs));
  const done = new Set(runs.filter(({ ending }) => ending === 'completed').map(({ slotMs }) => slotMs));
  return idleMs > (slots.every((slotMs) => done.has(slotMs)) ? CALM_MS : QUIET_MS);
}
