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
const WEEK = /^([1-9]\d{3})-W(\d\d)$/;
const QUARTER = /^([1-9]\d{3})-Q([1-4])$/;
const DATE = /^([1-9]\d{3})(?:-(\d\d))?(?:-(\d\d))?$/;

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
  const [, weekYear, week] = WEEK.exec(key) ?? [];
  // 4 January is always in week 1.
  if (weekYear !== undefined) return dayOfParts(weekYear, 1, 4) + (Number(week) - 1) * 7;
  const [, quarterYear, quarter] = QUARTER.exec(key) ?? [];
  if (quarterYear !== undefined) return dayOfParts(quarterYear, Number(quarter) * 3 - 2, 1);
  const [, year, month = '01', day = '01'] = DATE.exec(key) ?? [];
  return year === undefined ? undefined : dayOfParts(year, Number(month), Number(day));
}

function dayOfParts(year: string, month: number, day: number): number {
  return Date.UTC(Number(year), month - 1, day) / DAY_MS;
}

/** The period of a recorded run. The row keeps it, even if the job's options have changed. */
export function periodOfRun(run: RunSummary, options: PeriodOptions): Period {
  const { periodKey: key, periodStart: start, periodEnd: end, timeZone = options.timeZone, createdAt } = run;
  const isDay = /^\d{4}-\d\d-\d\d$/.test(key);
  const dayOptions = { timeZone, dayStart: options.dayStart };
  const businessDate = isDay ? key : businessDateAt(start ?? createdAt, dayOptions);
  return { key, businessDate, start, end };
}
