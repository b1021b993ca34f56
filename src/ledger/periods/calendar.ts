import { type Clock, withinLimit } from '../../core/clock';
import { describeValue } from '../../core/options';
import { dayOf, isoWeekday } from './business-date';

/** Decides on which dates a job runs. Instances may ask about one date several times, and about past dates. */
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
 * The same calendar, except that these dates are not business days.
 *
 * @throws InvalidLockConfigurationError for an invalid date
 */
export function withHolidays(calendar: BusinessCalendar, dates: Iterable<string>): BusinessCalendar {
  return withDates(calendar, dates, { what: 'a holiday', areBusinessDays: false });
}

/**
 * The same calendar, except that these dates are business days too.
 *
 * @throws InvalidLockConfigurationError for an invalid date
 */
export function withWorkingDays(calendar: BusinessCalendar, dates: Iterable<string>): BusinessCalendar {
  return withDates(calendar, dates, { what: 'a working day', areBusinessDays: true });
}

function withDates(
  calendar: BusinessCalendar,
  dates: Iterable<string>,
  { what, areBusinessDays }: { what: string; areBusinessDays: boolean },
): BusinessCalendar {
  const known = new Set(dates);
  for (const date of known) dayOf(date, what);
  return { isBusinessDay: (date) => (known.has(date) ? areBusinessDays : calendar.isBusinessDay(date)) };
}

/** A calendar's answer. While the calendar fails, nothing runs and nothing is recorded. cronlatch asks it again later. */
export type CalendarAnswer = 'business-day' | 'holiday' | CalendarFailure;

export interface CalendarFailure {
  readonly failed: string;
  readonly cause?: unknown;
}

const LIMIT_MS = 5000;

/** Never rejects. An answer that comes after the limit is ignored. */
export async function askCalendar(
  calendar: BusinessCalendar,
  date: string,
  { clock }: { readonly clock: Clock },
): Promise<CalendarAnswer> {
  try {
    const answer = await withinLimit(clock, answerOf(calendar, date), LIMIT_MS);
    if (answer === 'time-out')
      return { failed: `the calendar did not answer for ${date} within ${LIMIT_MS} ms` };
    if (answer.value === true) return 'business-day';
    if (answer.value === false) return 'holiday';
    return {
      failed: `the calendar answered ${describeValue(answer.value)} for ${date}, neither true nor false`,
    };
  } catch (cause) {
    return { failed: `the calendar threw for ${date}`, cause };
  }
}

/** Wraps the answer in an object, so that no answer can be taken for a timeout. */
async function answerOf(calendar: BusinessCalendar, date: string): Promise<{ value: unknown }> {
  return { value: await calendar.isBusinessDay(date) };
}
