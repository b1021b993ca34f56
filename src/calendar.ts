/**
 * Arithmetic with business dates and periods, for code that must agree with the ledger on the business date. The
 * calendars themselves, such as `weekdays`, are in `cronlatch`.
 *
 * @packageDocumentation
 */
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
