import { describeValue } from '../../core/describe-value';
import { InvalidLockConfigurationError } from '../../core/errors';
import {
  checkDayRule,
  dayAt,
  millisecondsOf,
  startOfDayMs,
  type BusinessDateOptions,
  type DayRule,
} from './business-date';
import { dateOf } from './calendar-date';
import { dayRangeAround, keyOfDay, type DatedKind } from './calendar-periods';
import { customKeyAt, type PeriodKeyFunction } from './custom-key';
import { hourAt } from './hour-period';

export type PeriodKind = 'hour' | DatedKind;

/** What happens once: the time from `start` until `end`, under a key. */
export interface Period {
  readonly key: string;
  /** The business date on which the period begins; of a custom key, that of the instant. */
  readonly businessDate: string;
  /** `undefined`, like `end`, for custom keys. */
  readonly start: Date | undefined;
  readonly end: Date | undefined;
}

/** A period whose limits are known: not one of a custom key. */
export interface CalendarPeriod extends Period {
  readonly start: Date;
  readonly end: Date;
}

export interface CalendarPeriodOptions extends BusinessDateOptions {
  /** Weeks are those of ISO 8601. All but the hour begin where their first business date begins. */
  readonly kind: PeriodKind;
}

export interface PeriodOptions extends BusinessDateOptions {
  readonly kind: PeriodKind | PeriodKeyFunction;
  /** `'previous'`: a run counts for the period before the one that it happens in. Default `'current'`. */
  readonly target?: 'current' | 'previous' | undefined;
}

const KINDS: readonly string[] = ['hour', 'day', 'week', 'month', 'quarter', 'year'] satisfies PeriodKind[];
const MOST_PERIODS = 10_000;

/**
 * The period that a run at this instant counts for.
 *
 * @throws InvalidLockConfigurationError for options that cannot be meant, and when a key function throws or returns
 * what cannot be a key
 */
export function periodAt(instant: Date, options: CalendarPeriodOptions & PeriodOptions): CalendarPeriod;
export function periodAt(instant: Date, options: PeriodOptions): Period;
export function periodAt(instant: Date, options: PeriodOptions): Period {
  const rule = checkPeriodOptions(options);
  const atMs = millisecondsOf(instant);
  const { kind, target } = options;
  if (typeof kind === 'function') {
    const key = customKeyAt(kind, instant);
    return { key, businessDate: dateOf(dayAt(atMs, rule)), start: undefined, end: undefined };
  }
  const period = calendarPeriodAt(atMs, kind, rule);
  return target === 'previous' ? calendarPeriodAt(period.start.getTime() - 1, kind, rule) : period;
}

/** @throws InvalidLockConfigurationError for options that cannot be meant */
export function checkPeriodOptions(options: PeriodOptions): DayRule {
  const { kind, target = 'current' } = options;
  checkTarget(target, kind);
  checkKind(kind);
  return checkDayRule(options);
}

/** The period that ends where this one begins. */
export function previousPeriod(period: CalendarPeriod, options: CalendarPeriodOptions): CalendarPeriod {
  return calendarPeriodAt(period.start.getTime() - 1, options.kind, checkPeriodOptions(options));
}

/** The period that begins where this one ends. */
export function nextPeriod(period: CalendarPeriod, options: CalendarPeriodOptions): CalendarPeriod {
  return calendarPeriodAt(period.end.getTime(), options.kind, checkPeriodOptions(options));
}

/**
 * Every period that lies, wholly or in part, in the time from `from` until `to`; the earliest first.
 *
 * @throws InvalidLockConfigurationError when there are more than 10,000
 */
export function periodsBetween(from: Date, to: Date, options: CalendarPeriodOptions): CalendarPeriod[] {
  const rule = checkPeriodOptions(options);
  const { kind } = options;
  const toMs = millisecondsOf(to);
  const periods: CalendarPeriod[] = [];
  for (let atMs = millisecondsOf(from); atMs < toMs;) {
    if (periods.length === MOST_PERIODS) {
      throw new InvalidLockConfigurationError(
        `There are more than ${MOST_PERIODS} periods of the kind '${kind}' from ${from.toISOString()} to ${to.toISOString()}: ask for fewer at a time.`,
      );
    }
    const period = calendarPeriodAt(atMs, kind, rule);
    periods.push(period);
    atMs = period.end.getTime();
  }
  return periods;
}

function calendarPeriodAt(atMs: number, kind: PeriodKind, rule: DayRule): CalendarPeriod {
  if (kind === 'hour') {
    const { key, startMs, endMs } = hourAt(atMs, rule.timeZone);
    return periodOf(key, startMs, endMs, rule);
  }
  const { firstDay, nextFirstDay } = dayRangeAround(dayAt(atMs, rule), kind);
  return periodOf(
    keyOfDay(firstDay, kind),
    startOfDayMs(firstDay, rule),
    startOfDayMs(nextFirstDay, rule),
    rule,
  );
}

function periodOf(key: string, startMs: number, endMs: number, rule: DayRule): CalendarPeriod {
  const businessDate = dateOf(dayAt(startMs, rule));
  return { key, businessDate, start: new Date(startMs), end: new Date(endMs) };
}

function checkKind(kind: PeriodKind | PeriodKeyFunction): void {
  if (typeof kind === 'function' || KINDS.includes(kind)) return;
  throw new InvalidLockConfigurationError(
    `${describeValue(kind)} is no kind of period: use ${KINDS.map((name) => `'${name}'`).join(', ')} or a function that makes a key of an instant.`,
  );
}

function checkTarget(target: string, kind: PeriodKind | PeriodKeyFunction): void {
  if (target !== 'current' && target !== 'previous') {
    throw new InvalidLockConfigurationError(
      `target is ${describeValue(target)}: it must be 'current' or 'previous'.`,
    );
  }
  if (target === 'previous' && typeof kind === 'function') {
    throw new InvalidLockConfigurationError(
      `target 'previous' has no meaning for a key function, whose periods have no order: let it return the key that is meant.`,
    );
  }
}
