import type { LockConfiguration, LockedTask, SkipReason } from '../../core';
import type { LedgerContext } from '../store-statements';
import { askCalendar, type CalendarFailure } from '../periods/calendar';
import { periodAt, type CalendarPeriod } from '../periods/period';
import { startDeadlinePassed, type JobPolicy } from '../policy/job-policy';
import type { RunKey, RunSummary } from '../run';
import { isOwed, lookForMissed, type HostTime, type Sight } from './ledger-snapshot';

/** One call of a job that runs once per period. */
export interface OncePerRequest<T> {
  readonly policy: JobPolicy;
  readonly scope: string;
  readonly lock: LockConfiguration;
  readonly task: LockedTask<T>;
  /** What a run that is brought back calls. */
  readonly resumed: (run: RunKey) => LockedTask<unknown>;
  /** `'tick'`; a tick that was not answered, `'again'`; or `'owed'`: only what is owed is brought back. */
  readonly purpose: 'tick' | 'again' | 'owed';
  /** Decides the period, whatever the time; and nothing else is brought back then. */
  readonly at?: Date | undefined;
  readonly scheduledAt?: Date | undefined;
  /** When this host heard of a tick. */
  readonly heard?: HostTime | undefined;
  /** When the tick is not answered, it is asked again. */
  readonly isAskedAgain: boolean;
}

/** What became of a request, told as it goes. */
export interface Report {
  /** There is a row for the period that was asked about. */
  isAnswered: boolean;
  /** Not to be asked again: its period was over, or nobody can tell which it is. */
  isOver: boolean;
  /** The period, by the database's now, before which a look found nothing to be caught up with. */
  caughtUpIn: string | undefined;
  started: number;
  /** How many runs should have been started. */
  owed: number;
}

export function newReport(): Report {
  return { isAnswered: false, isOver: false, caughtUpIn: undefined, started: 0, owed: 0 };
}

/** What is to become of the period that a tick asks about. */
type OwnPlan =
  | { readonly kind: 'run'; readonly isNew: boolean }
  /** To be recorded as such. */
  | { readonly kind: 'skip'; readonly reason: 'calendar' | 'deadline' }
  | { readonly kind: 'refused'; readonly reason: SkipReason }
  /** Asked again when its period is over. */
  | { readonly kind: 'over' }
  | { readonly kind: 'not-asked' };

/** What is to be done under the lock. */
export interface TickPlan {
  readonly own: OwnPlan;
  /** Other runs that are due or may have been left behind. */
  readonly owed: readonly RunSummary[];
  /** Periods that nobody ran, to be caught up with now. */
  readonly catchUp: readonly CalendarPeriod[];
  /** To be recorded as `skipped(missed)`. */
  readonly missed: readonly CalendarPeriod[];
  /** The calendar failed, or what a person has skipped is not known. */
  readonly failures: readonly CalendarFailure[];
}

/** Whether the lock is worth asking for. */
export function hasWork({ own, owed, catchUp, missed }: TickPlan): boolean {
  return own.kind === 'run' || own.kind === 'skip' || owed.length + catchUp.length + missed.length > 0;
}

/** The current period, where this look has asked whether any before it was missed, and none was. */
export function caughtUpIn<T>(
  { policy, at }: OncePerRequest<T>,
  { now }: Sight,
  { catchUp, missed, failures }: TickPlan,
): string | undefined {
  if (at !== undefined || policy.catchUp.catchUp === 'none') return undefined;
  const isOpen = catchUp.length + missed.length + failures.length > 0;
  return isOpen ? undefined : periodAt(now, policy.period).key;
}

/** What a request comes to, as far as it can be told before the lock. Never rejects for a calendar that fails. */
export async function planTick<T>(
  context: LedgerContext,
  request: OncePerRequest<T>,
  sight: Sight,
): Promise<TickPlan> {
  const { at } = request;
  const own = await planOwn(context, request, sight);
  const failures = 'failure' in own ? [own.failure] : [];
  if (at !== undefined) return { own, owed: [], catchUp: [], missed: [], failures };
  const ownIsOwed = own.kind === 'not-asked' && sight.run !== undefined && isOwed(sight.run, sight.now);
  const owed = ownIsOwed && sight.run !== undefined ? [...sight.owed, sight.run] : sight.owed;
  const { run: catchUp, missed, undecided } = await lookForMissed(context, request, sight);
  return { own, owed, catchUp, missed, failures: [...failures, ...undecided] };
}

async function planOwn<T>(
  context: LedgerContext,
  { policy, purpose }: OncePerRequest<T>,
  { now, instant, period, run }: Sight,
): Promise<OwnPlan & { failure?: CalendarFailure }> {
  if (purpose === 'owed') return { kind: 'not-asked' };
  if (run !== undefined) {
    const reason = refusalOf(run, now);
    return reason === undefined ? { kind: 'run', isNew: false } : { kind: 'refused', reason };
  }
  if (purpose === 'again' && isOver(policy, instant, now)) return { kind: 'over' };
  const answer = await askCalendar(policy.calendar, period.businessDate, context);
  if (answer === 'holiday') return { kind: 'skip', reason: 'calendar' };
  if (answer !== 'business-day') return { kind: 'refused', reason: 'calendar', failure: answer };
  const { startDeadlineMs } = policy;
  if (startDeadlinePassed(startDeadlineMs, { now, periodStart: period.start }))
    return { kind: 'skip', reason: 'deadline' };
  return { kind: 'run', isNew: true };
}

/**
 * Whether the period in which a tick came has ended. One of a key function has when the key is another one; where every
 * tick is to be caught up with, only when the tick is too old for it.
 */
function isOver({ period, catchUp: { catchUp, windowMs } }: JobPolicy, instant: Date, now: Date): boolean {
  const options = { ...period, target: 'current' } as const;
  const { key, end } = periodAt(instant, options);
  if (end !== undefined) return end <= now;
  if (catchUp === 'all') return now.getTime() - instant.getTime() > windowMs;
  return periodAt(now, options).key !== key;
}

/** Why nothing can be started, as far as a plain read can tell. */
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
