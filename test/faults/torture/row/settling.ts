import type { Story } from '../judge/story';

/** From when both processes are ready until the first fire, at the least. */
export const LEAD_MS = 1500;
/** Nothing ran for so long, after the last fire: what is missing by then is lost. */
export const QUIET_MS = 15_000;
/** Nothing ran for so long, and nothing is missing: what comes twice has come. */
export const CALM_MS = 2500;

/**
 * Whether nothing is to be expected any more.
 *
 * @param nowMs in the machine's time, as is `overMs`, when the fire would come that is not of the row any more
 */
export function isSettled({ slots, runs }: Story, nowMs: number, overMs: number): boolean {
  const idleMs = nowMs - Math.max(overMs, ...runs.map(({ endedMs }) => endedMs));
  const done = new Set(runs.filter(({ ending }) => ending === 'completed').map(({ slotMs }) => slotMs));
  return idleMs > (slots.every((slotMs) => done.has(slotMs)) ? CALM_MS : QUIET_MS);
}
