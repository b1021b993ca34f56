import { CalendarError, InvalidLockUseError } from '../../core';
import { askForPeriod, expectedPeriods, periodsWithoutRun, type PeriodicJob } from '../expected';
import { checkDayRule, dayOf, startOfDayMs } from '../periods/business-date';
import { calendarPeriodsOf, fixedScopeOf, type JobPolicy } from '../policy/job-policy';
import { periodAt, type CalendarPeriod } from '../periods/period';
import { checkInstant, newRunOf } from '../run';
import { runEventOf } from '../run-store';
import { limitOf, type LedgerContext } from '../store-statements';
import { findSkippedKeys } from '../tick/ledger-snapshot';
import type { OperatorAct } from './decide-act';
import { checkedScope } from './run-name';

export interface BackfillRange {
  /** The first business date, `'YYYY-MM-DD'`. */
  readonly from: string;
  /** The last business date. */
  readonly to: string;
  /** Default: that of the job. */
  readonly scope?: string | undefined;
  /** Also adds periods before the first recorded one. They may have been run and purged. Default `false`. */
  readonly force?: boolean | undefined;
}

export interface BackfillResult {
  /** The added runs, the earliest first. They are pending, and `runOverdue` or the next tick starts them. */
  readonly added: readonly CalendarPeriod[];
}

/**
 * Adds pending runs for the business days of the range that have no run, before the current period. A period in which the
 * schedule has no time is left out.
 *
 * @throws InvalidLockUseError for a job with a key function, and for a range that begins before the job's first record
 * @throws CalendarError if the job's calendar fails; the runs added before then stay
 */
export async function backfill(
  context: LedgerContext,
  { policy, expectation: { schedule } }: PeriodicJob,
  { from, to, scope = fixedScopeOf(policy), force = false }: BackfillRange,
  act?: OperatorAct,
): Promise<BackfillResult> {
  checkedScope(scope);
  const periods = calendarPeriodsOf(policy);
  const { job } = policy;
  if (periods === undefined)
    throw new InvalidLockUseError(
      `Job '${job}' cannot be backfilled: ${unlisted(policy)}, then call the job for the missing ones.`,
    );
  const rule = checkDayRule(periods);
  const start = new Date(startOfDayMs(dayOf(from, 'from'), rule));
  const end = new Date(startOfDayMs(dayOf(to, 'to') + 1, rule));
  checkInstant(start, 'from of backfill');
  const request = { job, scope, periodKey: undefined, since: start };
  const { now, runs, firstPeriodStart } = await context.store.peek(request, limitOf(context));
  if (!force && (firstPeriodStart === undefined || firstPeriodStart > start))
    refuseUnknown(job, firstPeriodStart);
  const recorded = new Set(runs.map(({ periodKey }) => periodKey));
  const current = periodAt(now, periods).start;
  const range = { from: start, to: end < current ? end : current };
  const wanted = expectedPeriods({ schedule }, periods, range).filter(
    (period) => period.start >= start && !recorded.has(period.key),
  );
  const event = act && runEventOf({}, 'requested', act.reason, act.actor);
  const added: CalendarPeriod[] = [];
  for (const period of wanted) {
    const answer = await askForPeriod(context, { policy, expectation: { schedule } }, period);
    if (answer === 'holiday') continue;
    if (answer !== 'business-day')
      throw new CalendarError(`The backfill of job '${job}' stopped: ${answer.failed}.`, answer);
    const run = newRunOf({ job, scope }, period, periods.timeZone);
    if (await context.store.insert({ ...run, state: 'pending', event }, limitOf(context))) added.push(period);
  }
  return { added };
}

/** The business days of a job without a run. The earliest comes first. */
export async function findGaps(
  context: LedgerContext,
  { policy, expectation }: PeriodicJob,
  { scope, from }: { readonly scope: string; readonly from: Date | undefined },
): Promise<readonly CalendarPeriod[]> {
  const { job } = policy;
  const periods = calendarPeriodsOf(policy);
  if (periods === undefined)
    throw new InvalidLockUseError(`Cannot list the gaps of job '${job}': ${unlisted(policy)}.`);
  const since = from && periodAt(from, periods).start;
  const request = { job, scope, periodKey: undefined, since: since ?? new Date(0) };
  const recorded = await context.store.peek(request, limitOf(context));
  const withoutRun = periodsWithoutRun(expectation, periods, recorded, from ?? new Date(0));
  const skipped = await findSkippedKeys(context, { job, scope });
  const gaps: CalendarPeriod[] = [];
  for (const period of withoutRun.filter(({ key }) => !skipped.has(key))) {
    const answer = await askForPeriod(context, { policy, expectation }, period);
    if (answer === 'business-day') gaps.push(period);
    if (typeof answer === 'object')
      throw new CalendarError(`Cannot list the gaps of job '${job}': ${answer.failed}.`, answer);
  }
  return gaps;
}

function unlisted({ period }: JobPolicy): string {
  const why = period.kind === 'tick' ? 'it has a run for each tick' : 'it uses a key function';
  return `${why}, so its periods cannot be listed. Compare ledger.list() with your own`;
}

function refuseUnknown(job: string, first: Date | undefined): never {
  const why = first === undefined ? 'it has no recorded run' : `its records begin at ${first.toISOString()}`;
  throw new InvalidLockUseError(
    `Job '${job}' cannot be backfilled so far back: ${why}. Earlier periods may have been run and purged, or may predate the job. Pass force: true to run them anyway.`,
  );
}
