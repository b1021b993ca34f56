import { dateOf, DAY_MS, dayOf } from './calendar-date';

/** Periods that are made of whole business dates. */
export type DatedKind = 'day' | 'week' | 'month' | 'quarter' | 'year';

/** The first date of the period that a date belongs to and that of the next one, as days since 1970-01-01. */
export interface DayRange {
  readonly firstDay: number;
  readonly nextFirstDay: number;
}

const MONTHS = { month: 1, quarter: 3, year: 12 };

export function dayRangeAround(day: number, kind: DatedKind): DayRange {
  switch (kind) {
    case 'day':
      return { firstDay: day, nextFirstDay: day + 1 };
    case 'week': {
      const monday = mondayOf(day);
      return { firstDay: monday, nextFirstDay: monday + 7 };
    }
    case 'month':
    case 'quarter':
    case 'year': {
      const { year, month } = partsOf(day);
      const firstMonth = month - (month % MONTHS[kind]);
      return {
        firstDay: firstDayOfMonth(year, firstMonth),
        nextFirstDay: firstDayOfMonth(year, firstMonth + MONTHS[kind]),
      };
    }
  }
}

/** `'2026-11-20'`, `'2026-W47'` (ISO 8601: its year is that of its Thursday), `'2026-11'`, `'2026-Q4'`, `'2026'`. */
export function keyOfDay(day: number, kind: DatedKind): string {
  const { year, month } = partsOf(day);
  switch (kind) {
    case 'day':
      return dateOf(day);
    case 'week': {
      const thursday = mondayOf(day) + 3;
      const weekYear = dateOf(thursday).slice(0, 4);
      const week = Math.floor((thursday - dayOf(`${weekYear}-01-01`)) / 7) + 1;
      return `${weekYear}-W${String(week).padStart(2, '0')}`;
    }
    case 'month':
      return dateOf(day).slice(0, 7);
    case 'quarter':
      return `${year}-Q${Math.floor(month / 3) + 1}`;
    case 'year':
      return dateOf(day).slice(0, 4);
  }
}

/** 1 for Monday to 7 for Sunday. */
export function isoWeekday(day: number): number {
  const sinceMonday = (day + 3) % 7; // 1970-01-01 was a Thursday.
  return ((sinceMonday + 7) % 7) + 1;
}

function mondayOf(day: number): number {
  return day - isoWeekday(day) + 1;
}

function partsOf(day: number): { year: number; month: number } {
  const date = new Date(day * DAY_MS);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() };
}

function firstDayOfMonth(year: number, month: number): number {
  return Date.UTC(year, month, 1) / DAY_MS;
}
