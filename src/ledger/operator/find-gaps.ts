import { CalendarError, InvalidLockUseError } from '../../core';
import { limitOf, type LedgerContext } from '../store-statements';
import { askCalendar } from '../periods/calendar';
import { periodAt, type CalendarPeriod } from '../periods/period';
import { periodsWithoutRun } from '../policy/catch-up';
import { calendarPeriodsOf, type JobPolicy } from '../policy/job-policy';
import { findSkippedKeys } from '../tick/ledger-snapshot';

/** The business days of a job without a run. The earliest comes first. */
export async function findGaps(
  context: LedgerContext,
  policy: JobPolicy,
  { scope, from }: { readonly scope: string; readonly from: Date | undefined },
): Promise<readonly CalendarPeriod[]> {
  const { job } = policy;
  const periods = calendarPeriodsOf(policy);
  if (periods === undefined)
    throw new InvalidLockUseError(
      `Cannot list the gaps of job '${job}': it uses a key function, so the expected periods are unknown. Compare ledger.list() with your own periods.`,
    );
  const since = from && periodAt(from, periods).start;
  const request = { job, scope, periodKey: undefined, since: since ?? new Date(0) };
  const recorded = await context.store.peek(request, limitOf(context));
  const windowMs = from === undefined ? Infinity : recorded.now.getTime() - from.getTime();
  const withoutRun = periodsWithoutRun(recorded, windowMs, periods);
  const skipped = await findSkippedKeys(context, { job, scope });
  const gaps: CalendarPeriod[] = [];
  for (const period of withoutRun.filter(({ key }) => !skipped.has(key))) {
    const answer = await askCalendar(policy.calendar, period.businessDate, context);
    if (answer === 'business-day') gaps.push(period);
    if (typeof answer === 'object')
      throw new CalendarError(`Cannot list the gaps of job '${job}': ${answer.failed}.`, answer);
  }
  return gaps;
}
