import { parsePositiveDuration, type Duration } from '../../core/duration';
import type { CalendarAnswer, CalendarFailure } from '../periods/calendar';
import type { CalendarPeriod, PeriodOptions } from '../periods/period';
import { refuseOption } from '../../core/options';
import { checkCount } from './retry';

/** Which missed periods are run later. `'none'`: they stay gaps. */
export type CatchUp = 'none' | 'latest' | 'all';

export interface CatchUpOptions {
  /**
   * `'latest'` runs only the newest missed period, and records the others as missed. Default `'none'`.
   *
   * The missed periods of a key function are unknown. For such a job, `'latest'` is refused, and `'all'` only
   * concerns ticks that could not run because the lock was held or the store was down: the process that received such
   * a tick runs it even after its period has ended.
   */
  readonly catchUp?: CatchUp | undefined;
  /** How far back to catch up. Earlier periods, and earlier ticks of a key function, stay gaps. Default 7 days. */
  readonly catchUpWindow?: Duration | undefined;
  /** With `'all'`: the most periods to run. The newest are run, and the others are recorded as missed. Default 31. */
  readonly catchUpLimit?: number | undefined;
}

export interface CatchUpPolicy {
  readonly catchUp: CatchUp;
  readonly windowMs: number;
  readonly limit: number;
}

const MOST_RUNS = 1000;

/** @throws InvalidLockConfigurationError naming the option and its value */
export function parseCatchUpPolicy(
  options: CatchUpOptions,
  kind: PeriodOptions['kind'],
  of: string,
): CatchUpPolicy {
  const { catchUp = 'none', catchUpWindow = '7d', catchUpLimit = 31 } = options;
  const refuse = (why: string): never => refuseOption(`catchUp ${of}`, catchUp, why);
  if (!['none', 'latest', 'all'].includes(catchUp)) refuse(`it must be 'none', 'latest' or 'all'`);
  if (kind === 'tick' && catchUp !== 'none')
    refuse(`a tick is never caught up with. Use a period such as 'hour'`);
  if (typeof kind === 'function' && catchUp === 'latest')
    refuse(`the periods of a key function have no order, so none is the latest. Use 'all' or 'none'`);
  return {
    catchUp,
    windowMs: parsePositiveDuration(catchUpWindow, `catchUpWindow ${of}`),
    limit: checkCount(catchUpLimit, MOST_RUNS, `catchUpLimit ${of}`),
  };
}

interface CheckedPeriod {
  readonly period: CalendarPeriod;
  readonly answer: CalendarAnswer;
}

/** What happens to missed periods. Each list begins with the earliest. */
export interface CatchUpPlan {
  /** To be run after the current period. */
  readonly catchUp: readonly CalendarPeriod[];
  /** To be recorded as `skipped(missed)`. */
  readonly missed: readonly CalendarPeriod[];
  /** Why some periods cannot be decided yet: the calendar failed, or the store did. */
  readonly failures: readonly CalendarFailure[];
}

/** Decides which periods without a row, the earliest first, are run now or recorded as missed. Pure. */
export function planCatchUp(
  { catchUp, limit }: CatchUpPolicy,
  periods: readonly CheckedPeriod[],
): CatchUpPlan {
  const possible = periods.filter(({ answer }) => answer !== 'holiday');
  const chosen = possible.slice(-(catchUp === 'latest' ? 1 : limit));
  const others = possible.slice(0, -chosen.length);
  const run = businessDaysOf(chosen);
  // The calendar has failed for one of them. If that is a holiday, an older period takes its place, so none is missed
  // yet.
  const isUndecided = run.length < chosen.length;
  const missed = isUndecided ? [] : businessDaysOf(others);
  const failures = periods.map(({ answer }) => answer).filter((answer) => typeof answer === 'object');
  return { catchUp: run, missed, failures };
}

function businessDaysOf(periods: readonly CheckedPeriod[]): CalendarPeriod[] {
  return periods.filter(({ answer }) => answer === 'business-day').map(({ period }) => period);
}
