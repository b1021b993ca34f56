/** Zones whose clocks change, and how. */
import assert from 'node:assert/strict';
import { offsetStretches, type OffsetStretch } from '#cronlatch/ledger/periods/time-zone';

export const [FROM_MS, TO_MS] = [Date.UTC(2026, 0, 1), Date.UTC(2028, 0, 1)];
/** Until then the changes are known. It is after a leap day. */
export const HORIZON_MS = Date.UTC(2029, 0, 1);

export const ZONES = [
  'Europe/Paris',
  'Europe/Dublin',
  'America/New_York',
  'America/St_Johns',
  'America/Havana',
  'America/Santiago',
  // Its clocks go from 23:00 to midnight.
  'America/Nuuk',
  'Asia/Beirut',
  'Atlantic/Azores',
  'Pacific/Chatham',
  'Australia/Sydney',
  // By half an hour, and by two hours.
  'Australia/Lord_Howe',
  'Antarctica/Troll',
].map((timeZone) => ({
  timeZone,
  stretches: offsetStretches(timeZone, FROM_MS - 30 * 86_400_000, HORIZON_MS),
}));

export type Zone = (typeof ZONES)[number];

/** The clocks of a zone change from one offset to another. */
export interface Change {
  readonly atMs: number;
  /** The end of the old time, and the beginning of the new one, by the wall clock. */
  readonly oldMs: number;
  readonly newMs: number;
}

export function changesOf({ stretches }: Zone): Change[] {
  return stretches.slice(1).map(({ fromMs: atMs, offsetMs }, index) => {
    const before = stretches[index]?.offsetMs ?? 0;
    return { atMs, oldMs: atMs + before, newMs: atMs + offsetMs };
  });
}

export function isGap(wallMs: number, { oldMs, newMs }: Change): boolean {
  return oldMs <= wallMs && wallMs < newMs;
}

/** Whether the wall clock names a time twice. */
export function isRepeated(wallMs: number, { oldMs, newMs }: Change): boolean {
  return newMs <= wallMs && wallMs < oldMs;
}

export function stretchAt({ stretches }: Zone, atMs: number): OffsetStretch {
  const found = stretches.find(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs);
  assert.ok(found !== undefined);
  return found;
}

/** Whether an instant has a time of the wall clock that the zone had before. */
export function isSecondCopy(zone: Zone, atMs: number): boolean {
  const { fromMs, offsetMs } = stretchAt(zone, atMs);
  const change = changesOf(zone).find((each) => each.atMs === fromMs);
  return change !== undefined && isRepeated(atMs + offsetMs, change);
}
