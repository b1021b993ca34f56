import { describeValue, refuseOption } from '../../core/options';
import { DAY_MS } from '../../core/duration';
import { InvalidLockConfigurationError } from '../../core/errors';
import { checkTimeZone, MOST_OFFSET_MS, offsetStretches } from './time-zone';

export interface BusinessDateOptions {
  /** An IANA time zone name: `'Europe/Paris'`, `'UTC'`. Required, because the host's zone is never used. */
  readonly timeZone: string;
  /** The wall-clock time at which a business day begins: `'00:00'`, the default, to `'23:59'`. */
  readonly dayStart?: string | undefined;
}

const TIME_OF_DAY = /^([01]\d|2[0-3]):([0-5]\d)$/;

export interface DayRule {
  readonly timeZone: string;
  readonly dayStartMs: number;
}

/**
 * The business date (`'YYYY-MM-DD'`) of an instant: the latest date that has begun. Every instant has one. It never
 * goes back, even if the wall clock does.
 *
 * @throws InvalidLockConfigurationError for an unknown zone, an invalid day start, or an invalid instant
 */
export function businessDateAt(instant: Date, options: BusinessDateOptions): string {
  return dateOf(dayAt(millisecondsOf(instant), checkDayRule(options)));
}

/**
 * The earliest instant at which the zone's wall clock has reached `dayStart` of that date. If a clock change skips
 * that time, it is the instant of the change; if the time occurs twice, the first one. `undefined` for a date that
 * the zone skipped (Apia, 2011-12-30).
 *
 * @throws InvalidLockConfigurationError as `businessDateAt` does, and for an invalid date
 */
export function startOfBusinessDate(date: string, options: BusinessDateOptions): Date | undefined {
  const rule = checkDayRule(options);
  const day = dayOf(date, 'the business date');
  const startMs = startOfDayMs(day, rule);
  return startMs === startOfDayMs(day + 1, rule) ? undefined : new Date(startMs);
}

/**
 * @param of names the job in messages, for example ` of job 'close-day'`
 * @throws InvalidLockConfigurationError
 */
export function checkDayRule({ timeZone, dayStart = '00:00' }: BusinessDateOptions, of = ''): DayRule {
  checkTimeZone(timeZone, `timeZone${of}`);
  const match = typeof dayStart === 'string' ? TIME_OF_DAY.exec(dayStart) : null;
  if (match === null) {
    refuseOption(`dayStart${of}`, dayStart, `write a time of day, '00:00' to '23:59', two digits each`);
  }
  return { timeZone, dayStartMs: (Number(match[1]) * 60 + Number(match[2])) * 60_000 };
}

export function millisecondsOf(instant: Date): number {
  const milliseconds = instant instanceof Date ? instant.getTime() : NaN;
  if (!Number.isNaN(milliseconds)) return milliseconds;
  throw new InvalidLockConfigurationError(`${describeValue(instant)} is not an instant: give a valid Date.`);
}

/**
 * The business date of an instant, as days since 1970-01-01. It is that of the latest time that the wall clock has shown up
 * to the instant. This is the current time, except for a while after the clock was put back: a day that has begun does not
 * begin again.
 */
export function dayAt(atMs: number, { timeZone, dayStartMs }: DayRule): number {
  // No wall clock is ever ahead of its later self by more than the width of all offsets.
  const stretches = offsetStretches(timeZone, atMs - 2 * MOST_OFFSET_MS, atMs + 1);
  const furthestWallMs = Math.max(...stretches.map(({ toMs, offsetMs }) => toMs - 1 + offsetMs));
  return Math.floor((furthestWallMs - dayStartMs) / DAY_MS);
}

/** The start of a business date. A date that was skipped begins with the next one. */
export function startOfDayMs(day: number, { timeZone, dayStartMs }: DayRule): number {
  const wallMs = day * DAY_MS + dayStartMs;
  const stretches = offsetStretches(timeZone, wallMs - MOST_OFFSET_MS, wallMs + MOST_OFFSET_MS);
  const reached = stretches.filter(({ toMs, offsetMs }) => toMs + offsetMs > wallMs);
  return Math.min(...reached.map(({ fromMs, offsetMs }) => Math.max(fromMs, wallMs - offsetMs)));
}

/** Four digits without a leading zero: every store can hold such a date. */
const FORM = /^[1-9]\d{3}-\d\d-\d\d$/;

/** A date as `'YYYY-MM-DD'` from a count of days since 1970-01-01. */
export function dateOf(day: number): string {
  const date = new Date(day * DAY_MS);
  const year = date.getUTCFullYear();
  if (year >= 1000 && year <= 9999) return date.toISOString().slice(0, 10);
  throw new InvalidLockConfigurationError(
    `${describeValue(date)} cannot be a business date: its year must lie between 1000 and 9999.`,
  );
}

/** Converts a date as `'YYYY-MM-DD'` to days since 1970-01-01. */
export function dayOf(date: string, what = 'the date'): number {
  const day = typeof date === 'string' && FORM.test(date) ? Date.parse(`${date}T00:00:00Z`) / DAY_MS : NaN;
  // The round trip finds dates that a Date rolls over: it takes 30 February for 2 March.
  if (Number.isInteger(day) && dateOf(day) === date) return day;
  throw new InvalidLockConfigurationError(
    `${what} is ${describeValue(date)}, which is not a date of the calendar: write a date as 'YYYY-MM-DD', for example '2026-02-28'.`,
  );
}

/** With an offset: without one, the host's time zone would decide. */
const INSTANT = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:?\d\d)$/;

/** @returns `undefined` for any other text */
export function instantIn(text: string): Date | undefined {
  const instant = new Date(INSTANT.test(text) ? text.replace(' ', 'T') : NaN);
  return Number.isNaN(instant.getTime()) ? undefined : instant;
}

/** 1 for Monday to 7 for Sunday. */
export function isoWeekday(day: number): number {
  const sinceMonday = (day + 3) % 7; // 1970-01-01 was a Thursday.
  return ((sinceMonday + 7) % 7) + 1;
}

export function mondayOf(day: number): number {
  return day - isoWeekday(day) + 1;
}
