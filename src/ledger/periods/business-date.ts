import { describeValue } from '../../core/describe-value';
import { DAY_MS } from '../../core/duration';
import { InvalidLockConfigurationError } from '../../core/errors';
import { checkTimeZone, MOST_OFFSET_MS, offsetStretches } from './time-zone';

export interface BusinessDateOptions {
  /** A name of the IANA time zone database: `'Europe/Paris'`, `'UTC'`. Never the host's zone in silence. */
  readonly timeZone: string;
  /** The wall-clock time at which a business day begins: `'00:00'`, the default, to `'23:59'`. */
  readonly dayStart?: string | undefined;
}

const TIME_OF_DAY = /^([01]\d|2[0-3]):([0-5]\d)$/;

/** Checked options. */
export interface DayRule {
  readonly timeZone: string;
  readonly dayStartMs: number;
}

/**
 * The business date (`'YYYY-MM-DD'`) of an instant: the latest date that has begun. It never runs backwards, whatever
 * the wall clock does, and every instant has one.
 *
 * @throws InvalidLockConfigurationError for an unknown zone, a day start that is no time of day, or an invalid instant
 */
export function businessDateAt(instant: Date, options: BusinessDateOptions): string {
  return dateOf(dayAt(millisecondsOf(instant), checkDayRule(options)));
}

/**
 * The earliest instant at which the zone's wall clock has reached `dayStart` of that date: in a gap the clock change,
 * in an overlap the first of the two. `undefined` for a date that the zone skipped (Apia, 2011-12-30).
 *
 * @throws InvalidLockConfigurationError as `businessDateAt` does, and for what is not a date
 */
export function startOfBusinessDate(date: string, options: BusinessDateOptions): Date | undefined {
  const rule = checkDayRule(options);
  const day = dayOf(date, 'the business date');
  const startMs = startOfDayMs(day, rule);
  return startMs === startOfDayMs(day + 1, rule) ? undefined : new Date(startMs);
}

/** @throws InvalidLockConfigurationError */
export function checkDayRule({ timeZone, dayStart = '00:00' }: BusinessDateOptions): DayRule {
  checkTimeZone(timeZone);
  const match = typeof dayStart === 'string' ? TIME_OF_DAY.exec(dayStart) : null;
  if (match === null) {
    throw new InvalidLockConfigurationError(
      `dayStart is ${describeValue(dayStart)}: write a time of day, '00:00' to '23:59', two digits each.`,
    );
  }
  return { timeZone, dayStartMs: (Number(match[1]) * 60 + Number(match[2])) * 60_000 };
}

export function millisecondsOf(instant: Date): number {
  const milliseconds = instant instanceof Date ? instant.getTime() : NaN;
  if (!Number.isNaN(milliseconds)) return milliseconds;
  throw new InvalidLockConfigurationError(`${describeValue(instant)} is not an instant: give a valid Date.`);
}

/** Of an instant, the business date as days since 1970-01-01. */
export function dayAt(atMs: number, rule: DayRule): number {
  return Math.floor((furthestWallMs(rule.timeZone, atMs) - rule.dayStartMs) / DAY_MS);
}

/** When a business date has begun. A date that was skipped begins with the next one. */
export function startOfDayMs(day: number, { timeZone, dayStartMs }: DayRule): number {
  const wallMs = day * DAY_MS + dayStartMs;
  const stretches = offsetStretches(timeZone, wallMs - MOST_OFFSET_MS, wallMs + MOST_OFFSET_MS);
  const reached = stretches.filter(({ toMs, offsetMs }) => toMs + offsetMs > wallMs);
  return Math.min(...reached.map(({ fromMs, offsetMs }) => Math.max(fromMs, wallMs - offsetMs)));
}

/**
 * The furthest that the wall clock has ever been, up to an instant. It is what the clock shows, but for a while after
 * it was put back: a day that has begun does not begin again.
 */
function furthestWallMs(timeZone: string, atMs: number): number {
  // No clock was ever ahead of a later one by more than the width of all offsets.
  const stretches = offsetStretches(timeZone, atMs - 2 * MOST_OFFSET_MS, atMs + 1);
  return Math.max(...stretches.map(({ toMs, offsetMs }) => toMs - 1 + offsetMs));
}

/** Four digits, without a leading zero: what every store can hold as a date. */
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

/**
 * Days since 1970-01-01 of a date as `'YYYY-MM-DD'`.
 *
 * @param what names the culprit in errors
 */
export function dayOf(date: string, what = 'the date'): number {
  const day = typeof date === 'string' && FORM.test(date) ? Date.parse(`${date}T00:00:00Z`) / DAY_MS : NaN;
  // The round trip finds what a Date would roll over: 30 February is 2 March to it.
  if (Number.isInteger(day) && dateOf(day) === date) return day;
  throw new InvalidLockConfigurationError(
    `${what} is ${describeValue(date)}, which is not a date of the calendar: write it as 'YYYY-MM-DD', for example '2026-02-28'.`,
  );
}
