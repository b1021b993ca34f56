/**
 * Calendars for once-per jobs, and arithmetic with business dates and periods for code that must agree with the ledger
 * on the business date.
 *
 * @packageDocumentation
 */
export { everyDay, weekdays, withHolidays, withWorkingDays, type BusinessCalendar } from './ledger';
export { businessDateAt, startOfBusinessDate, type BusinessDateOptions } from './ledger';
export { nextPeriod, periodAt, periodsBetween, previousPeriod } from './ledger';
export type { CalendarPeriod, CalendarPeriodOptions, Period, PeriodKind, PeriodOptions } from './ledger';
