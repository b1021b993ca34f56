import { dayOf } from './calendar-date';
import { isoWeekday } from './calendar-periods';

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
