import { parsePositiveDuration, type Duration } from '../../core/duration';
import type { CalendarAnswer } from '../periods/calendar';
import { periodsBetween, type CalendarPeriod, type CalendarPeriodOptions } from '../periods/period';
import { checkCount, refusePolicy, type PolicySubject } from './policy-subject';

/** Which of the periods that nobody ran are run later. `'none'`: they stay gaps. */
export type CatchUp = 'none' | 'latest' | 'all';

export interface CatchUpOptions {
  /**
   * `'latest'` runs the newest only and records the others as missed. Default `'none'`. Of a key function nobody knows
   * which periods were missed; for one, `'all'` says that a tick that could not be answered, for the lock was held or
   * the store away, is run also when its period is over, by a process that heard it; and there is no `'latest'`.
   */
  readonly catchUp?: CatchUp | undefined;
  /** How far back: a period that ended longer ago stays a gap, as does a tick of a key function. Default 7 days. */
  readonly catchUpWindow?: Duration | undefined;
  /** With `'all'`: how many are run at most, the newest; the others are recorded as missed. Default 31. */
  readonly catchUpLimit?: number | undefined;
}

/** Checked options. */
export interface CatchUpPolicy {
  readonly catchUp: CatchUp;
  readonly windowMs: number;
  readonly limit: number;
}

const POLICIES: readonly string[] = ['none', 'latest', 'all'] satisfies CatchUp[];
const MOST_RUNS = 1000;

/** @throws InvalidLockConfigurationError naming the option and its value */
export function parseCatchUpPolicy(
  options: CatchUpOptions,
  { of, customKeys }: PolicySubject,
): CatchUpPolicy {
  const { catchUp = 'none', catchUpWindow = '7d', catchUpLimit = 31 } = options;
  if (!POLICIES.includes(catchUp))
    refusePolicy(`catchUp ${of}`, catchUp, `it must be 'none', 'latest' or 'all'`);
  if (customKeys && catchUp === 'latest')
    refusePolicy(
      `catchUp ${of}`,
      catchUp,
      'the periods of a key function have no order, so none is the latest',
    );
  return {
    catchUp,
    windowMs: parsePositiveDuration(catchUpWindow, `catchUpWindow ${of}`),
    limit: checkCount(catchUpLimit, MOST_RUNS, `catchUpLimit ${of}`),
  };
}

export interface JobHistory {
  /** The database's. */
  readonly now: Date;
  /** The period that a tick now would belong to, `target` included. It is never caught up with. */
  readonly current: CalendarPeriod;
  /** Where the earliest recorded period of the job and scope begins. Without one the job is new, and owes nothing. */
  readonly firstRecordedStart: Date | undefined;
  /** Of the periods in the window that have a row, whatever stands in it. */
  readonly recordedKeys: ReadonlySet<string>;
}

/**
 * The periods that nobody has answered for: before the current one, later than the first recorded one, not wholly
 * before the window, without a row. Whether they were *expected* the calendar says. The earliest first.
 */
export function unansweredPeriods(
  { now, current, firstRecordedStart, recordedKeys }: JobHistory,
  { windowMs }: Pick<CatchUpPolicy, 'windowMs'>,
  options: CalendarPeriodOptions,
): CalendarPeriod[] {
  if (firstRecordedStart === undefined) return [];
  const from = new Date(Math.max(now.getTime() - windowMs, firstRecordedStart.getTime()));
  return periodsBetween(from, current.start, options).filter(
    ({ key, start }) => start > firstRecordedStart && !recordedKeys.has(key),
  );
}

/** A period without a row, and the calendar's answer for its business date. */
export interface AnsweredPeriod {
  readonly period: CalendarPeriod;
  readonly answer: CalendarAnswer;
}

/** What happens to missed periods. Each list begins with the earliest. */
export interface CatchUpPlan {
  /** To be run after the current period. */
  readonly run: readonly CalendarPeriod[];
  /** To be recorded as `skipped(missed)`. */
  readonly missed: readonly CalendarPeriod[];
}

/**
 * Decides which of the periods without a row are run now, and which are recorded as missed. Pure: the holder of the lock
 * carries the plan out.
 *
 * @param periods those of `unansweredPeriods`, the earliest first
 */
export function planCatchUp(
  { catchUp, limit }: { readonly catchUp: Exclude<CatchUp, 'none'>; readonly limit: number },
  periods: readonly AnsweredPeriod[],
): CatchUpPlan {
  const possible = periods.filter(({ answer }) => answer !== 'holiday');
  const chosen = possible.slice(-(catchUp === 'latest' ? 1 : limit));
  const others = possible.slice(0, -chosen.length);
  const run = businessDaysOf(chosen);
  // The calendar has failed for one of them. If that is a holiday, an older period takes its place: none is missed yet.
  const isUndecided = run.length < chosen.length;
  return { run, missed: isUndecided ? [] : businessDaysOf(others) };
}

function businessDaysOf(periods: readonly AnsweredPeriod[]): CalendarPeriod[] {
  return periods.filter(({ answer }) => answer === 'business-day').map(({ period }) => period);
}
