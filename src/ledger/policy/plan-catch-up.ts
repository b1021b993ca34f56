import type { CalendarAnswer } from '../periods/ask-calendar';
import type { CatchUpPolicy } from './catch-up';
import type { CalendarPeriod } from '../periods/period';

/** A period without a row, and what the calendar says of its business date. */
export interface AnsweredPeriod {
  readonly period: CalendarPeriod;
  readonly answer: CalendarAnswer;
}

/** Each list begins with the earliest. */
export interface CatchUpPlan {
  /** After the current period has had its run. */
  readonly run: readonly CalendarPeriod[];
  /** To be recorded as `skipped(missed)`. */
  readonly missed: readonly CalendarPeriod[];
  /** Expected, and nothing is written of them now. */
  readonly gaps: readonly CalendarPeriod[];
  /** The calendar failed: to be asked again. */
  readonly undecided: readonly CalendarPeriod[];
}

/**
 * What becomes of the periods that nobody has answered for. Pure: whoever holds the lock obeys it.
 *
 * @param periods those of `unansweredPeriods`, the earliest first
 */
export function planCatchUp(
  { catchUp, limit }: Pick<CatchUpPolicy, 'catchUp' | 'limit'>,
  periods: readonly AnsweredPeriod[],
): CatchUpPlan {
  const possible = periods.filter(({ answer }) => answer !== 'holiday');
  const undecided = periodsOf(possible.filter(({ answer }) => typeof answer === 'object'));
  if (catchUp === 'none') return { run: [], missed: [], gaps: expected(possible), undecided };
  const chosen = possible.slice(-(catchUp === 'latest' ? 1 : limit));
  const others = possible.slice(0, -chosen.length);
  // A date that turns out to be a holiday makes room for an older one: until that is known, none is called missed.
  const isSettled = expected(chosen).length === chosen.length;
  const left = isSettled ? { missed: expected(others), gaps: [] } : { missed: [], gaps: expected(others) };
  return { run: expected(chosen), ...left, undecided };
}

function expected(periods: readonly AnsweredPeriod[]): CalendarPeriod[] {
  return periodsOf(periods.filter(({ answer }) => answer === 'business-day'));
}

function periodsOf(periods: readonly AnsweredPeriod[]): CalendarPeriod[] {
  return periods.map(({ period }) => period);
}
