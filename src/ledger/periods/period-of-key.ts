import { InvalidLockUseError } from '../../core';
import { DAY_MS, HOUR_MS } from '../../core/duration';
import { describeValue } from '../../core/options';
import type { RunSummary } from '../run';
import { businessDateAt, checkDayRule, type DayRule, startOfDayMs } from './business-date';
import {
  type CalendarPeriod,
  type CalendarPeriodOptions,
  type Period,
  periodAt,
  type PeriodOptions,
} from './period';

/** `2026-11-01T01-0400`, with seconds in the offset if the zone had them. */
const HOUR = /^([1-9]\d{3}-\d\d-\d\dT\d\d)([+-]\d\d)(\d\d)(\d\d)?$/;
/** A year, a week, a quarter, a month or a day. */
const DATED = /^([1-9]\d{3})(?:-W(\d\d)|-Q([1-4])|-(\d\d)(?:-(\d\d))?)?$/;

/** @throws InvalidLockUseError for a text that is not the key of a period of this kind in this zone */
export function periodOfKey(key: string, options: CalendarPeriodOptions): CalendarPeriod {
  for (const insideMs of instantsInside(key, checkDayRule(options))) {
    const period = periodAt(new Date(insideMs), { ...options, target: 'current' });
    // A date that does not exist, such as 30 February, rolls over and gets another key.
    if (period.key === key) return period;
  }
  throw new InvalidLockUseError(
    `${describeValue(key)} is not the key of a period of the kind '${options.kind}' in ${options.timeZone}.`,
  );
}

function instantsInside(key: string, rule: DayRule): number[] {
  const hour = HOUR.exec(key);
  if (hour === null) {
    const day = dayInside(key);
    return day === undefined ? [] : [startOfDayMs(day, rule)];
  }
  const [, date = '', hours = '', minutes = '', seconds = '0'] = hour;
  const lateMs = Number(seconds) * 1000 * (hours.startsWith('-') ? 1 : -1);
  const startMs = Date.parse(`${date}:00:00${hours}:${minutes}`) + lateMs;
  // A clock change may cut off the beginning or the end of an hour.
  return Number.isNaN(startMs) ? [] : [startMs, startMs + HOUR_MS - 1];
}

/** A business date of the period, as days since 1970-01-01. */
function dayInside(key: string): number | undefined {
  const [, year, week, quarter, month = 1, day = 1] = DATED.exec(key) ?? [];
  if (year === undefined) return undefined;
  const dayOfYear = (nth: number, date: number): number => Date.UTC(Number(year), nth - 1, date) / DAY_MS;
  // 4 January is always in week 1.
  if (week !== undefined) return dayOfYear(1, 4) + (Number(week) - 1) * 7;
  return quarter === undefined
    ? dayOfYear(Number(month), Number(day))
    : dayOfYear(Number(quarter) * 3 - 2, 1);
}

/** The period of a recorded run. The row keeps it, even if the job's options have changed. */
export function periodOfRun(run: RunSummary, options: PeriodOptions): Period {
  const { periodKey: key, periodStart: start, periodEnd: end, timeZone = options.timeZone, createdAt } = run;
  const isDay = /^\d{4}-\d\d-\d\d$/.test(key);
  const dayOptions = { timeZone, dayStart: options.dayStart };
  const businessDate = isDay ? key : businessDateAt(start ?? createdAt, dayOptions);
  return { key, businessDate, start, end };
}
