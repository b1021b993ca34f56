import { CalendarError, InvalidLockUseError } from '../../core';
import { askForPeriod, expectedPeriods, periodsWithoutRun, type PeriodicJob } from '../expected';
import { checkDayRule, dayOf, startOfDayMs } from '../periods/business-date';
import { calendarPeriodsOf, type JobPolicy } from '../policy/job-policy';
import { periodAt, type CalendarPeriod } from '../periods/period';
import { checkInstant, newRunOf } from '../run';
import { runEventOf } from '../run-store';
import { limitOf, type LedgerContext } from '../store-statements';
import { findSkippedKeys } from '../tick/ledger-snapshot';
import { ConflictError, type OperatorAct } from './decide-act';
import { checkedScope } from './run-name';

/**
 * The business days of the range without a run, before the current period. A period in which the schedule has no time is left
 * out. The earliest comes first.
 *
 * @param range from the first business date, `'YYYY-MM-DD'`, to the last one
 * @param range.force also periods before the first recorded one. They may have been run and purged.
 * @throws ConflictError for a job with a key function, and for a range that begins before the job's first record
 * @throws CalendarError if the job's calendar fails
 */
export async function periodsToAdd(
  context: LedgerContext,
  { policy, expectation: { schedule } }: PeriodicJob,
  { from, to, scope, force }: Record<'from' | 'to' | 'scope', string> & { readonly force: boolean },
): Promise<readonly CalendarPeriod[]> {
  checkedScope(scope);
  const periods = calendarPeriodsOf(policy);
  const { job } = policy;
  if (periods === undefined)
    throw new ConflictError(
      `Cannot add runs of job '${job}': ${unlisted(policy)}, then call the job for the missing ones.`,
    );
  const rule = checkDayRule(periods);
  const start = new Date(startOfDayMs(dayOf(from, 'from'), rule));
  const end = new Date(startOfDayMs(dayOf(to, 'to') + 1, rule));
  checkInstant(start, 'from');
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
  return await businessDaysOf(context, { policy, expectation: { schedule } }, wanted);
}

/** Adds pending runs. `runOverdue` or the next tick starts them. @returns those that had no run meanwhile */
export async function addRuns(
  context: LedgerContext,
  policy: JobPolicy,
  added: { readonly periods: readonly CalendarPeriod[]; readonly scope: string; readonly act: OperatorAct },
): Promise<readonly CalendarPeriod[]> {
  const { periods, scope, act } = added;
  const event = runEventOf({}, 'requested', act.reason, act.actor);
  const isNew = async (period: CalendarPeriod): Promise<boolean> => {
    const run = newRunOf({ job: policy.job, scope }, period, policy.period.timeZone);
    return await context.store.insert({ ...run, state: 'pending', event }, limitOf(context));
  };
  const inserted: CalendarPeriod[] = [];
  for (const period of periods) if (await isNew(period)) inserted.push(period);
  return inserted;
}

async function businessDaysOf(
  context: LedgerContext,
  job: PeriodicJob,
  periods: readonly CalendarPeriod[],
): Promise<readonly CalendarPeriod[]> {
  const days: CalendarPeriod[] = [];
  for (const period of periods) {
    const answer = await askForPeriod(context, job, period);
    if (answer === 'business-day') days.push(period);
    if (typeof answer === 'object')
      throw new CalendarError(
        `Cannot list the periods of job '${job.policy.job}': ${answer.failed}.`,
        answer,
      );
  }
  return days;
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
  return await businessDaysOf(
    context,
    { policy, expectation },
    withoutRun.filter(({ key }) => !skipped.has(key)),
  );
}

function unlisted({ period }: JobPolicy): string {
  const why = period.kind === 'tick' ? 'it has a run for each tick' : 'it uses a key function';
  return `${why}, so its periods cannot be listed. Compare ledger.list() with your own`;
}

function refuseUnknown(job: string, first: Date | undefined): never {
  const why = first === undefined ? 'it has no recorded run' : `its records begin at ${first.toISOString()}`;
  throw new ConflictError(
    `Cannot add runs of job '${job}' so far back: ${why}. Earlier periods may have been run and purged, or may predate the job. Pass force: true to run them anyway.`,
  );
}
