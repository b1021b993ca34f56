/**
 * Calendars for once-per jobs, and arithmetic with business dates and periods for code that must agree with the ledger
 * on the business date.
 *
 * @packageDocumentation
 */
export { everyDay, weekdays, withHolidays, withWorkingDays } from './ledger';
export type { BusinessCalendar } from './ledger';
export {
  businessDateAt,
  nextPeriod,
  periodAt,
  periodsBetween,
  previousPeriod,
  startOfBusinessDate,
} from './ledger';
export type {
  BusinessDateOptions,
  CalendarPeriod,
  CalendarPeriodOptions,
  Period,
  PeriodKind,
  PeriodOptions,
} from './ledger';
