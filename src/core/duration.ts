import { describeValue, refuseOption } from './options';
import { InvalidLockConfigurationError } from './errors';

/**
 * A length of time: milliseconds as a number; `'500ms'`, `'30s'`, `'10m'`, `'2h'`, `'1d'` and sums of these, larger
 * units first (`'1h30m'`); or ISO 8601 without calendar units (`'PT10M'`, `'P1DT12H'`). A day is 24 hours. The limit
 * is 365 days, unless an option documents another. Rounded to the microsecond.
 */
export type Duration = number | string;

const NUMBER = String.raw`(\d+(?:\.\d+)?)`;
const SUM = new RegExp(`^(?:${NUMBER}d)?(?:${NUMBER}h)?(?:${NUMBER}m)?(?:${NUMBER}s)?(?:${NUMBER}ms)?$`);
const ISO = new RegExp(`^P(?:${NUMBER}D)?(?:T(?=\\d)(?:${NUMBER}H)?(?:${NUMBER}M)?(?:${NUMBER}S)?)?$`);
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
const UNITS_MS = [DAY_MS, HOUR_MS, 60_000, 1000, 1];
const LONGEST_DAYS = 365;
/** Node ends a longer timer at once. */
const LONGEST_TIMER_DAYS = 24;

const FORMS = `use milliseconds as a number, '500ms', '30s', '10m', '2h', '1d', sums such as '1h30m', or ISO 8601 such as 'PT10M'`;

/**
 * @param what names the option in errors, for example `lockAtMostFor of lock 'close-day'`
 * @returns milliseconds, rounded to whole microseconds
 * @throws InvalidLockConfigurationError for anything that is not a length of time between 0 and `longestDays`
 */
export function parseDuration(value: Duration, what: string, longestDays = LONGEST_DAYS): number {
  const milliseconds = typeof value === 'number' ? value : typeof value === 'string' ? parseText(value) : NaN;
  if (Number.isNaN(milliseconds))
    throw new InvalidLockConfigurationError(
      `${what} is ${describeValue(value)}, which is not a duration: ${FORMS}.`,
    );
  if (milliseconds < 0 || milliseconds > longestDays * DAY_MS)
    refuseOption(what, value, `it must lie between 0 and ${longestDays} days`);
  return Math.round(milliseconds * 1000) / 1000;
}

export function parsePositiveDuration(value: Duration, what: string, longestDays?: number): number {
  const milliseconds = parseDuration(value, what, longestDays);
  if (milliseconds === 0) refuseOption(what, value, 'it must be longer than zero');
  return milliseconds;
}

/** @throws InvalidLockConfigurationError above 24 days, too */
export function parseStatementTimeout(value: Duration): number {
  return parsePositiveDuration(value, 'statementTimeout', LONGEST_TIMER_DAYS);
}

function parseText(text: string): number {
  const match = SUM.exec(text) ?? ISO.exec(text);
  const parts = match?.slice(1) ?? [];
  if (parts.every((part) => part === undefined)) return NaN;
  return parts.reduce((sum, part, i) => sum + Number(part ?? 0) * (UNITS_MS[i] ?? NaN), 0);
}
