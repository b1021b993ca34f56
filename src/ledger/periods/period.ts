/**
 * periods/: which period an instant belongs to, and on which dates a job runs.
 *
 * Everything here is arithmetic on time zones. `Intl` alone supplies their rules, and nothing reads a clock. A
 * business date begins at the earliest instant at which its zone's wall clock has reached the day start, and it ends
 * when the next one begins: `business-date.ts`. So every instant has exactly one date, and dates never go back,
 * through every clock change. Weeks, months, quarters and years consist of business dates. An hour also ends when the
 * clock changes. A tick is a scheduled time: it has a start and no end. A key function makes periods that have no order,
 * no start and no end.
 * `period-of-key.ts` finds the period of a key or of a recorded run. `calendar.ts` asks the application which dates
 * are business days.
 */
import { callOption, refuseOption } from '../../core/options';
import { DAY_MS, HOUR_MS } from '../../core/duration';
import { InvalidLockConfigurationError } from '../../core/errors';
import { checkStoredName } from '../../core/lock-name';
import { LONGEST_KEY } from '../run';
import { BoundedCache } from './bounded-cache';
import {
  type BusinessDateOptions,
  checkDayRule,
  dateOf,
  dayAt,
  dayOf,
  type DayRule,
  millisecondsOf,
  mondayOf,
  startOfDayMs,
} from './business-date';
import { offsetStretches } from './time-zone';

export type PeriodKind = 'tick' | CalendarKind;
/** The kinds whose periods follow each other, each with a start and an end. */
export type CalendarKind = 'hour' | DatedKind;

/** The time from `start` until `end`, in which a job runs once. */
export interface Period {
  readonly key: string;
  /** The business date on which the period begins; for a custom key, the business date of the instant. */
  readonly businessDate: string;
  /** `undefined`, like `end`, for custom keys. */
  readonly start: Date | undefined;
  /** `undefined` also for a tick. */
  readonly end: Date | undefined;
}

/** A period with a known start and end, unlike that of a custom key. */
export interface CalendarPeriod extends Period {
  readonly start: Date;
  readonly end: Date;
}

export interface CalendarPeriodOptions extends BusinessDateOptions {
  /** Weeks follow ISO 8601. Every kind but the hour begins with its first business date. */
  readonly kind: CalendarKind;
}

export interface PeriodOptions extends BusinessDateOptions {
  readonly kind: PeriodKind | PeriodKeyFunction;
  /** `'previous'`: a run counts for the period before the one in which it happens. Default `'current'`. */
  readonly target?: 'current' | 'previous' | undefined;
}

const KINDS = ['tick', 'hour', 'day', 'week', 'month', 'quarter', 'year'] satisfies PeriodKind[];
const MOST_PERIODS = 10_000;

/**
 * The period that a run at this instant counts for.
 *
 * @throws InvalidLockConfigurationError for invalid options, and if a key function throws or returns an invalid key
 */
export function periodAt(instant: Date, options: CalendarPeriodOptions & PeriodOptions): CalendarPeriod;
export function periodAt(instant: Date, options: PeriodOptions): Period;
export function periodAt(instant: Date, options: PeriodOptions): Period {
  return compilePeriodAt(options)(instant);
}

/**
 * `periodAt` for one job, whose options are checked once. It keeps the last period that it has found, because each tick
 * needs the same one several times.
 *
 * @param of names the job in messages, for example ` of job 'close-day'`
 * @throws InvalidLockConfigurationError for invalid options
 */
export function compilePeriodAt(options: PeriodOptions, of = ''): (instant: Date) => Period {
  const rule = checkPeriodOptions(options, of);
  const { kind, target } = options;
  if (kind === 'tick' || typeof kind === 'function')
    return (instant) => {
      const atMs = millisecondsOf(instant);
      const key = kind === 'tick' ? instant.toISOString() : customKeyAt(kind, instant);
      const start = kind === 'tick' ? new Date(atMs) : undefined;
      return { key, businessDate: dateOf(dayAt(atMs, rule)), start, end: undefined };
    };
  let last: { around: CalendarPeriod; found: CalendarPeriod } | undefined;
  return (instant) => {
    const atMs = millisecondsOf(instant);
    if (last === undefined || instant < last.around.start || instant >= last.around.end) {
      const around = periodAround(atMs, kind, rule);
      const found = target === 'previous' ? periodAround(around.start.getTime() - 1, kind, rule) : around;
      last = { around, found };
    }
    return copyOf(last.found);
  };
}

function checkPeriodOptions(options: PeriodOptions, of = ''): DayRule {
  const { kind, target = 'current' } = options;
  if (target !== 'current' && target !== 'previous')
    refuseOption(`target${of}`, target, `it must be 'current' or 'previous'`);
  if (target === 'previous' && kind === 'tick')
    refuseOption(`target${of}`, target, `a tick counts for itself`);
  if (target === 'previous' && typeof kind === 'function')
    throw new InvalidLockConfigurationError(
      `target 'previous'${of} cannot be used with a key function, because its periods have no order: return the key of the previous period from the function.`,
    );
  if (typeof kind !== 'function' && !KINDS.includes(kind)) {
    const kinds = KINDS.map((name) => `'${name}'`).join(', ');
    const why = `use ${kinds} or a function that returns a key for an instant`;
    refuseOption(of === '' ? 'kind' : `period${of}`, kind, why);
  }
  return checkDayRule(options, of);
}

/** The period that ends where this one begins. */
export function previousPeriod(period: CalendarPeriod, options: CalendarPeriodOptions): CalendarPeriod {
  return periodAround(period.start.getTime() - 1, options.kind, checkPeriodOptions(options));
}

/** The period that begins where this one ends. */
export function nextPeriod(period: CalendarPeriod, options: CalendarPeriodOptions): CalendarPeriod {
  return periodAround(period.end.getTime(), options.kind, checkPeriodOptions(options));
}

/**
 * Every period that lies, wholly or in part, in the time from `from` until `to`. The earliest comes first.
 *
 * @throws InvalidLockConfigurationError if there are more than 10,000
 */
export function periodsBetween(from: Date, to: Date, options: CalendarPeriodOptions): CalendarPeriod[] {
  const rule = checkPeriodOptions(options);
  const { kind } = options;
  const toMs = millisecondsOf(to);
  const periods: CalendarPeriod[] = [];
  for (let atMs = millisecondsOf(from); atMs < toMs;) {
    if (periods.length === MOST_PERIODS) {
      throw new InvalidLockConfigurationError(
        `There are more than ${MOST_PERIODS} periods of the kind '${kind}' from ${from.toISOString()} to ${to.toISOString()}: request a shorter time.`,
      );
    }
    const period = periodAround(atMs, kind, rule);
    periods.push(period);
    atMs = period.end.getTime();
  }
  return periods;
}

/** With dates of its own, because a handler may change those that it gets. */
function copyOf(period: CalendarPeriod): CalendarPeriod {
  return { ...period, start: new Date(period.start), end: new Date(period.end) };
}

function periodAround(atMs: number, kind: CalendarKind, rule: DayRule): CalendarPeriod {
  return kind === 'hour' ? hourAround(atMs, rule) : copyOf(datedPeriod(dayAt(atMs, rule), kind, rule));
}

/**
 * The hour of a zone's wall clock that contains an instant. An hour also ends when the clock changes. The hour that
 * is repeated in autumn is two hours, `2026-11-01T01-0400` and `2026-11-01T01-0500`. If a clock moves by half an
 * hour, an hour is cut short.
 */
function hourAround(atMs: number, rule: DayRule): CalendarPeriod {
  const stretches = offsetStretches(rule.timeZone, atMs - HOUR_MS, atMs + HOUR_MS);
  const { fromMs, toMs, offsetMs } = stretches.reduce((last, next) => (next.fromMs <= atMs ? next : last));
  const wallMs = Math.floor((atMs + offsetMs) / HOUR_MS) * HOUR_MS;
  const startMs = Math.max(wallMs - offsetMs, fromMs);
  return {
    key: keyOfHour(wallMs, offsetMs),
    businessDate: dateOf(dayAt(startMs, rule)),
    start: new Date(startMs),
    end: new Date(Math.min(wallMs - offsetMs + HOUR_MS, toMs)),
  };
}

function keyOfHour(wallMs: number, offsetMs: number): string {
  const hour = new Date(wallMs).getUTCHours();
  const seconds = Math.abs(offsetMs) / 1000;
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  // Seconds only for a zone that had them, until 1972.
  const offset = (seconds % 60 === 0 ? parts.slice(0, 2) : parts).map(twoDigits).join('');
  return `${dateOf(Math.floor(wallMs / DAY_MS))}T${twoDigits(hour)}${offsetMs < 0 ? '-' : '+'}${offset}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

/** A tick that catches up asks for the same periods as the one before it: at most 366 a year for each zone and kind. */
const periodsByDay = new BoundedCache<CalendarPeriod>(5000);

function datedPeriod(day: number, kind: DatedKind, rule: DayRule): CalendarPeriod {
  return periodsByDay.get(`${day} ${kind} ${rule.dayStartMs} ${rule.timeZone}`, () => {
    const { firstDay, nextFirstDay } = dayRangeAround(day, kind);
    const start = new Date(startOfDayMs(firstDay, rule));
    const businessDate = dateOf(dayAt(start.getTime(), rule));
    const end = new Date(startOfDayMs(nextFirstDay, rule));
    return { key: keyOfDay(firstDay, kind), businessDate, start, end };
  });
}

/** Kinds of periods that consist of whole business dates. */
type DatedKind = 'day' | 'week' | 'month' | 'quarter' | 'year';

const MONTHS = { month: 1, quarter: 3, year: 12 };

/** The first date of a period, and of the next one, as days since 1970-01-01. */
function dayRangeAround(day: number, kind: DatedKind): { firstDay: number; nextFirstDay: number } {
  if (kind === 'day') return { firstDay: day, nextFirstDay: day + 1 };
  if (kind === 'week') return { firstDay: mondayOf(day), nextFirstDay: mondayOf(day) + 7 };
  const date = new Date(day * DAY_MS);
  const firstDayOf = (month: number): number => Date.UTC(date.getUTCFullYear(), month, 1) / DAY_MS;
  const month = date.getUTCMonth() - (date.getUTCMonth() % MONTHS[kind]);
  return { firstDay: firstDayOf(month), nextFirstDay: firstDayOf(month + MONTHS[kind]) };
}

/** `'2026-11-20'`, `'2026-W47'` (ISO 8601: its year is that of its Thursday), `'2026-11'`, `'2026-Q4'`, `'2026'`. */
function keyOfDay(day: number, kind: DatedKind): string {
  const [year = '', month] = dateOf(day).split('-');
  switch (kind) {
    case 'day':
      return dateOf(day);
    case 'week': {
      const thursday = mondayOf(day) + 3;
      const weekYear = dateOf(thursday).slice(0, 4);
      const week = Math.floor((thursday - dayOf(`${weekYear}-01-01`)) / 7) + 1;
      return `${weekYear}-W${twoDigits(week)}`;
    }
    case 'month':
      return `${year}-${month}`;
    case 'quarter':
      return `${year}-Q${Math.ceil(Number(month) / 3)}`;
    case 'year':
      return year;
  }
}

/** Returns the key of an instant's period: 1–64 characters, and always the same for the same instant. */
export type PeriodKeyFunction = (at: Date) => string;

/** @throws InvalidLockConfigurationError if the function throws or returns an invalid key */
function customKeyAt(keyFunction: PeriodKeyFunction, at: Date): string {
  const instant = at.toISOString();
  const failed = `The key function threw for ${instant}: it must return a key for every instant.`;
  const key = callOption(() => keyFunction(new Date(at)), failed); // A copy, because it may change its argument.
  checkStoredName(key, { as: `the key of a period (for ${instant})`, longest: LONGEST_KEY });
  return key;
}
