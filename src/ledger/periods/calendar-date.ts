import { describeValue } from '../../core/describe-value';
import { InvalidLockConfigurationError } from '../../core/errors';

export const DAY_MS = 86_400_000;

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
