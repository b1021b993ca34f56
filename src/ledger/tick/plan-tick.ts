import type { LockConfiguration, LockedTask, SkipReason } from '../../core';
import type { LedgerContext } from '../store-statements';
import { askCalendar, type CalendarFailure } from '../periods/calendar';
import { periodAt, type CalendarPeriod } from '../periods/period';
import { startDeadlinePassed, type JobPolicy } from '../policy/job-policy';
import { isOverdue, type RunKey, type RunSummary } from '../run';
import { findMissedPeriods, type HostTime, type LedgerSnapshot } from './ledger-snapshot';

/** One call of a job that runs once per period. */
export interface OncePerRequest<T> {
  readonly policy: JobPolicy;
  readonly scope: string;
  readonly lock: LockConfiguration;
  readonly task: LockedTask<T>;
  /** The task of a run that is not the tick's own. */
  readonly resumed: (run: RunKey) => LockedTask<unknown>;
  /** `'tick'`, or `'again'` for a retried tick. `'overdue'`: no tick, only overdue runs. */
  readonly purpose: 'tick' | 'again' | 'overdue';
  /** Names the period, whatever the current time. No other run is started then. */
  readonly at?: Date | undefined;
  readonly scheduledAt?: Date | undefined;
  /** When this host got the tick. */
  readonly heard?: HostTime | undefined;
  /** Whether the guard retries the tick if it is not answered. */
  readonly willRetry: boolean;
}

/** The progress of a request, updated as it goes. */
export interface Report {
  /** There is a row for the tick's own period. */
  isAnswered: boolean;
  /** Not retried: its period is over, or cannot be determined. */
  isOver: boolean;
  /** The database's current period, if nothing before it is left to catch up with. */
  caughtUpIn: string | undefined;
  started: number;
  /** How many runs should have been started. */
  overdue: number;
}

export function newReport(): Report {
  return { isAnswered: false, isOver: false, caughtUpIn: undefined, started: 0, overdue: 0 };
}

/** What a tick does with its own period. */
type OwnPlan =
  | { readonly kind: 'run'; readonly isNew: boolean }
  /** To be recorded as such. */
  | { readonly kind: 'skip'; readonly reason: 'calendar' | 'deadline' }
  | { readonly kind: 'refused'; readonly reason: SkipReason }
  /** A retried tick whose period is over. */
  | { readonly kind: 'over' }
  | { readonly kind: 'not-asked' };

/** What a tick does under the lock. */
export interface TickPlan {
  readonly own: OwnPlan;
  /** Other runs that are due, or whose holders may have crashed. */
  readonly overdue: readonly RunSummary[];
  /** Missed periods, to be run now. */
  readonly catchUp: readonly CalendarPeriod[];
  /** To be recorded as `skipped(missed)`. */
  readonly missed: readonly CalendarPeriod[];
  /** The calendar failed, or the skipped periods could not be read. */
  readonly failures: readonly CalendarFailure[];
}

/** Whether the lock is worth asking for. */
export function hasWork({ own, overdue, catchUp, missed }: TickPlan): boolean {
  return own.kind === 'run' || own.kind === 'skip' || overdue.length + catchUp.length + missed.length > 0;
}

/** The current period, if the plan has checked that none before it is missed. */
export function caughtUpIn<T>(
  { policy, at }: OncePerRequest<T>,
  { now }: LedgerSnapshot,
  { catchUp, missed, failures }: TickPlan,
): string | undefined {
  if (at !== undefined || policy.catchUp.catchUp === 'none') return undefined;
  const isOpen = catchUp.length + missed.length + failures.length > 0;
  return isOpen ? undefined : periodAt(now, policy.period).key;
}

/** Plans a tick from its snapshot, before the lock. Never rejects for a calendar that fails. */
export async function planTick<T>(
  context: LedgerContext,
  request: OncePerRequest<T>,
  snapshot: LedgerSnapshot,
): Promise<TickPlan> {
  const { at } = request;
  const own = await planOwn(context, request, snapshot);
  const failures = 'failure' in own ? [own.failure] : [];
  if (at !== undefined) return { own, overdue: [], catchUp: [], missed: [], failures };
  const isOwnOverdue =
    own.kind === 'not-asked' && snapshot.run !== undefined && isOverdue(snapshot.run, snapshot.now);
  const overdue =
    isOwnOverdue && snapshot.run !== undefined ? [...snapshot.overdue, snapshot.run] : snapshot.overdue;
  const { run: catchUp, missed, undecided } = await findMissedPeriods(context, request, snapshot);
  return { own, overdue, catchUp, missed, failures: [...failures, ...undecided] };
}

async function planOwn<T>(
  context: LedgerContext,
  { policy, purpose }: OncePerRequest<T>,
  { now, instant, period, run }: LedgerSnapshot,
): Promise<OwnPlan & { failure?: CalendarFailure }> {
  if (purpose === 'overdue') return { kind: 'not-asked' };
  if (run !== undefined) {
    const reason = refusalOf(run, now);
    return reason === undefined ? { kind: 'run', isNew: false } : { kind: 'refused', reason };
  }
  if (purpose === 'again' && isPeriodOver(policy, instant, now)) return { kind: 'over' };
  const answer = await askCalendar(policy.calendar, period.businessDate, context);
  if (answer === 'holiday') return { kind: 'skip', reason: 'calendar' };
  if (answer !== 'business-day') return { kind: 'refused', reason: 'calendar', failure: answer };
  const { startDeadlineMs } = policy;
  if (startDeadlinePassed(startDeadlineMs, { now, periodStart: period.start }))
    return { kind: 'skip', reason: 'deadline' };
  return { kind: 'run', isNew: true };
}

/**
 * Whether the period in which a tick came has ended. The period of a key function has ended when the key has changed; with
 * `catchUp: 'all'`, only when the tick is older than the catch-up window.
 */
function isPeriodOver(
  { period, catchUp: { catchUp, windowMs } }: JobPolicy,
  instant: Date,
  now: Date,
): boolean {
  const options = { ...period, target: 'current' } as const;
  const { key, end } = periodAt(instant, options);
  if (end !== undefined) return end <= now;
  if (catchUp === 'all') return now.getTime() - instant.getTime() > windowMs;
  return periodAt(now, options).key !== key;
}

/** Why the run cannot be started, as far as a plain read shows. */
function refusalOf({ state, nextAttemptAt }: RunSummary, now: Date): SkipReason | undefined {
  switch (state) {
    case 'completed':
      return 'already-completed';
    case 'interrupted':
    case 'skipped':
      return state;
    case 'running':
      return undefined;
    case 'pending':
    case 'failed':
      if (nextAttemptAt === undefined) return 'exhausted';
      return nextAttemptAt > now ? 'not-due' : undefined;
  }
}
