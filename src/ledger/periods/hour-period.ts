import { DAY_MS, HOUR_MS } from '../../core/duration';
import { dateOf } from './business-date';
import { offsetStretches } from './time-zone';

export interface Hour {
  readonly key: string;
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * The hour of a zone's wall clock that contains an instant. An hour also ends when the clock changes. The hour that
 * is repeated in autumn is two hours, `2026-11-01T01-0400` and `2026-11-01T01-0500`. If a clock moves by half an
 * hour, an hour is cut short.
 */
export function hourAt(atMs: number, timeZone: string): Hour {
  const stretches = offsetStretches(timeZone, atMs - HOUR_MS, atMs + HOUR_MS);
  const { fromMs, toMs, offsetMs } = stretches.reduce((last, next) => (next.fromMs <= atMs ? next : last));
  const wallMs = Math.floor((atMs + offsetMs) / HOUR_MS) * HOUR_MS;
  return {
    key: hourKeyOf(wallMs, offsetMs),
    startMs: Math.max(wallMs - offsetMs, fromMs),
    endMs: Math.min(wallMs - offsetMs + HOUR_MS, toMs),
  };
}

function hourKeyOf(wallMs: number, offsetMs: number): string {
  const hour = new Date(wallMs).getUTCHours();
  return `${dateOf(Math.floor(wallMs / DAY_MS))}T${twoDigits(hour)}${offsetText(offsetMs)}`;
}

function offsetText(offsetMs: number): string {
  const seconds = Math.abs(offsetMs) / 1000;
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  // Seconds only for a zone that had them, until 1972.
  const shown = seconds % 60 === 0 ? parts.slice(0, 2) : parts;
  return (offsetMs < 0 ? '-' : '+') + shown.map(twoDigits).join('');
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
