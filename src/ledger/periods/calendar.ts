import { type Clock, withinLimit } from '../../core/clock';
import { describeValue } from '../../core/describe-value';
import { dayOf } from './business-date';
import { isoWeekday } from './period';

/** Says on which dates a job runs. Instances may ask it about one date several times, and about past dates. */
export interface BusinessCalendar {
  /** @param date `'YYYY-MM-DD'` */
  isBusinessDay(date: string): boolean | Promise<boolean>;
}

/** Every date is a business day. */
export const everyDay: BusinessCalendar = { isBusinessDay: () => true };

/** Monday to Friday. */
export function weekdays(): BusinessCalendar {
  return { isBusinessDay: (date) => isoWeekday(dayOf(date)) <= 5 };
}

/**
 * The calendar, but for these dates, which are no business days.
 *
 * @throws InvalidLockConfigurationError for what is not a date
 */
export function withHolidays(calendar: BusinessCalendar, dates: Iterable<string>): BusinessCalendar {
  return withDates(calendar, checkedDates(dates, 'a holiday'), false);
}

/**
 * The calendar, and these dates besides: the Saturdays that make up for a long holiday.
 *
 * @throws InvalidLockConfigurationError for what is not a date
 */
export function withWorkingDays(calendar: BusinessCalendar, dates: Iterable<string>): BusinessCalendar {
  return withDates(calendar, checkedDates(dates, 'a working day'), true);
}

function withDates(
  calendar: BusinessCalendar,
  dates: ReadonlySet<string>,
  areBusinessDays: boolean,
): BusinessCalendar {
  return { isBusinessDay: (date) => (dates.has(date) ? areBusinessDays : calendar.isBusinessDay(date)) };
}

function checkedDates(dates: Iterable<string>, what: string): ReadonlySet<string> {
  const checked = new Set(dates);
  for (const date of checked) dayOf(date, what);
  return checked;
}

/** What a calendar says of a date. While it fails, nothing runs, nothing is recorded, and it is asked again. */
export type CalendarAnswer = 'business-day' | 'holiday' | CalendarFailure;

export interface CalendarFailure {
  /** For a person. */
  readonly failed: string;
  /** What the calendar threw. */
  readonly cause?: unknown;
}

export interface AskCalendarOptions {
  readonly clock: Clock;
  readonly limitMs?: number;
}

const LIMIT_MS = 5000;

/** Never rejects. An answer that comes after the limit is not heard. */
export async function askCalendar(
  calendar: BusinessCalendar,
  date: string,
  { clock, limitMs = LIMIT_MS }: AskCalendarOptions,
): Promise<CalendarAnswer> {
  try {
    const answer = await withinLimit(clock, answerOf(calendar, date), limitMs);
    if (answer === 'time-out')
      return { failed: `the calendar did not answer for ${date} within ${limitMs} ms` };
    if (answer.said === true) return 'business-day';
    if (answer.said === false) return 'holiday';
    return {
      failed: `the calendar answered ${describeValue(answer.said)} for ${date}, neither true nor false`,
    };
  } catch (cause) {
    return { failed: `the calendar threw for ${date}`, cause };
  }
}

/** As an object: whatever a calendar says is not taken for a time-out. */
async function answerOf(calendar: BusinessCalendar, date: string): Promise<{ said: unknown }> {
  return { said: await calendar.isBusinessDay(date) };
}
