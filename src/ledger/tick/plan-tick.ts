import type { HeldLock, LockedTask, RunIdentity, SkipReason, TaskResult } from '../../core';
import type { CallReport } from '../../core/execution/event-hub';
import type { CompiledLock } from '../../core/lock-configuration';
import { limitOf, type LedgerContext } from '../store-statements';
import { askForPeriod, dayAround, isLongerThanADay, isRunningAt, mayBeMadeUp } from '../expected';
import { askCalendar, everyDay, type CalendarAnswer, type CalendarFailure } from '../periods/calendar';
import { periodAt, type CalendarPeriod, type Period } from '../periods/period';
import { earliestTickOf, isPastStartDeadline, type JobPolicy } from '../policy/job-policy';
import type { CatchUpPlan } from '../policy/catch-up';
import { identityOf, isOverdue, placeInTime, type RunKey, type RunSummary } from '../run';
import {
  findMissedPeriods,
  NOTHING_MISSED,
  type LedgerSnapshot,
  type PeriodRequest,
} from './ledger-snapshot';
import { refusalOf } from './decide-claim';

type OwnPlan =
  | { readonly kind: 'run'; readonly isNew: boolean }
  /** To be recorded as skipped. */
  | { readonly kind: 'skip'; readonly reason: 'calendar' | 'deadline' }
  /** `failure`: the calendar's, if it could not decide. */
  | { readonly kind: 'refused'; readonly reason: SkipReason; readonly failure?: CalendarFailure }
  /** A retried tick whose period has ended. `isAnswered`: a run of the job has ended after it. */
  | { readonly kind: 'expired'; readonly isAnswered?: boolean }
  /** Only the other runs. */
  | { readonly kind: 'none' };

export interface TickPlan extends CatchUpPlan {
  readonly own: OwnPlan;
  /** Other runs that are due, or whose holders may have crashed. The earliest comes first. */
  readonly overdue: readonly RunSummary[];
}

export interface TickRequest<T> extends PeriodRequest {
  readonly lock: CompiledLock;
  readonly task: LockedTask<T>;
  /** Returns the task of a run that is not the tick's own. */
  readonly taskOf: (run: RunKey) => LockedTask<unknown>;
  /** Called for a tick that is not part of a run. Returns a result if the tick is skipped without a look at the ledger. */
  readonly skip?: (() => TaskResult<never> | undefined) | undefined;
  /** Whether the guard retries the tick if no run of its period is recorded. */
  readonly willRetry: boolean;
}

/** A call of a once-per job on its way through the ledger: its request, and the progress so far. */
export class Tick<T> {
  /** The tick's own period has a row. */
  isRecorded = false;
  /** The tick is not retried, because its period has ended or cannot be determined. */
  isFinal = false;
  /** It has been answered by no run, no record and no other instance. */
  isOpen = true;
  /** The database's current period, if nothing before it is left to catch up with. */
  caughtUpPeriod: string | undefined;
  started = 0;
  /** The number of runs that should have been started. */
  overdue = 0;
  /** Set before the lock is requested, like the plan. */
  snapshot!: LedgerSnapshot;
  plan!: TickPlan;
  held!: HeldLock;

  constructor(
    readonly request: TickRequest<T>,
    readonly report: CallReport,
  ) {}

  runOf({ key: periodKey }: Period): RunIdentity {
    const { policy, scope } = this.request;
    const recorded = this.snapshot.recorded.runs.find((run) => run.periodKey === periodKey);
    if (recorded !== undefined) return identityOf(recorded);
    return { job: policy.job, scope, periodKey, generation: 0, attempt: 0 };
  }
}

/** Whether the plan needs the lock. */
export function hasWork({ own, overdue, catchUp, missed }: TickPlan): boolean {
  return own.kind === 'run' || own.kind === 'skip' || overdue.length + catchUp.length + missed.length > 0;
}

/** The key of the current period, if the plan has checked that no earlier one is missed. */
export function findCaughtUpPeriod(
  { policy, at, expectation: { declaredAt = new Date(0) } }: PeriodRequest,
  { now }: LedgerSnapshot,
  { catchUp, missed, failures }: TickPlan,
): string | undefined {
  // Until the job is registered, it is unknown what is expected.
  if (at !== undefined || policy.catchUp.catchUp === 'none' || declaredAt > now) return undefined;
  const isOpen = catchUp.length + missed.length + failures.length > 0;
  return isOpen ? undefined : policy.periodAt(now).key;
}

/** Plans a tick from its snapshot, before the lock. Does not reject if the calendar fails. */
export async function planTick(
  context: LedgerContext,
  request: PeriodRequest,
  snapshot: LedgerSnapshot,
): Promise<TickPlan> {
  const { now, period: current, recorded } = snapshot;
  const own = planRecorded(request, snapshot) ?? (await planNew(context, request, snapshot));
  const failures = own.kind === 'refused' && own.failure !== undefined ? [own.failure] : [];
  // A late tick that another instance has answered must not hold the lock when the next tick comes.
  if (request.at !== undefined || (request.tick !== undefined && own.kind === 'refused'))
    return { own, overdue: [], ...NOTHING_MISSED, failures };
  const overdue = recorded.runs
    .filter((run) => isOverdue(run, now) && (own.kind === 'none' || run.periodKey !== current.key))
    .sort((a, b) => placeInTime(a) - placeInTime(b));
  const missedPeriods = await findMissedPeriods(context, request, snapshot);
  const { period: options, startDeadlineMs } = request.policy;
  const isLate = (period: CalendarPeriod): boolean =>
    isPastStartDeadline(startDeadlineMs, earliestTickOf(period, options), now);
  return {
    own,
    overdue,
    catchUp: missedPeriods.catchUp.filter((period) => !isLate(period)),
    missed: [...missedPeriods.missed, ...missedPeriods.catchUp.filter(isLate)],
    failures: [...failures, ...missedPeriods.failures],
  };
}

/** @returns `undefined` if the run is a new one, which the calendar decides about */
function planRecorded(request: PeriodRequest, snapshot: LedgerSnapshot): OwnPlan | undefined {
  const { policy, purpose, tick } = request;
  const { now, instant, period, run } = snapshot;
  if (purpose === 'overdue' || (purpose === 'made-up' && run !== undefined)) return { kind: 'none' };
  if (run !== undefined) {
    const reason = refusalOf(run, now);
    return reason === undefined ? { kind: 'run', isNew: false } : { kind: 'refused', reason };
  }
  if (purpose !== 'retry') return undefined;
  const hasEnded = tick
    ? (tick.nextAfter?.(period.start ?? instant) ?? now) <= now
    : hasPeriodEnded(policy, instant, now);
  return hasEnded ? { kind: 'expired' } : undefined;
}

async function planNew(
  context: LedgerContext,
  request: PeriodRequest,
  snapshot: LedgerSnapshot,
): Promise<OwnPlan> {
  const { policy, tick, purpose } = request;
  const { now, instant, period, recorded } = snapshot;
  const isMadeUp = purpose === 'made-up';
  if (isMadeUp && !mayBeMadeUp(request, instant, recorded)) return { kind: 'none' };
  if (tick && purpose !== 'tick' && (await isAnswered(context, request, snapshot)))
    return isMadeUp ? { kind: 'none' } : { kind: 'expired', isAnswered: true };
  const answer = await askForTick(context, request, snapshot);
  // An earlier tick of a long period may have come on a business day.
  if (answer === 'holiday' && isMadeUp && isLongerThanADay(policy.period)) return { kind: 'none' };
  if (answer === 'holiday') return { kind: 'skip', reason: 'calendar' };
  if (answer === 'later') return isMadeUp ? { kind: 'none' } : { kind: 'refused', reason: 'not-due' };
  if (answer !== 'business-day') return { kind: 'refused', reason: 'calendar', failure: answer };
  const scheduledAt = snapshot.scheduledAt ?? earliestTickOf(period, policy.period);
  if (isPastStartDeadline(policy.startDeadlineMs, scheduledAt, now))
    return { kind: 'skip', reason: 'deadline' };
  return { kind: 'run', isNew: true };
}

/** `'later'`: the date of the tick is a holiday, but a later tick of its period, such as a month, comes on one. */
async function askForTick(
  context: LedgerContext,
  request: PeriodRequest,
  { instant, period }: LedgerSnapshot,
): Promise<CalendarAnswer | 'later'> {
  const { calendar, period: options } = request.policy;
  // Without a calendar of its own, a job needs no timer for the answer.
  if (calendar === everyDay) return 'business-day';
  if (!isLongerThanADay(options)) return await askCalendar(calendar, period.businessDate, context);
  const answer = await askCalendar(calendar, dayAround(instant, options).businessDate, context);
  if (answer !== 'holiday') return answer;
  const later = await askForPeriod(context, request, period as CalendarPeriod, instant);
  return later === 'business-day' ? 'later' : later;
}

async function isAnswered(
  context: LedgerContext,
  { policy: { job }, scope }: PeriodRequest,
  { instant }: LedgerSnapshot,
): Promise<boolean> {
  const query = { job, scope, order: 'newest-first', limit: 1 } as const;
  const [newest] = await context.store.find(query, limitOf(context));
  return newest !== undefined && isRunningAt(instant, newest);
}

/**
 * Whether the period in which a tick came has ended. The period of a key function has ended when its key has changed;
 * with `catchUp: 'all'`, when the tick is older than the catch-up window.
 */
function hasPeriodEnded({ period, catchUp }: JobPolicy, instant: Date, now: Date): boolean {
  const options = { ...period, target: 'current' } as const;
  const { key, end } = periodAt(instant, options);
  if (end !== undefined) return end <= now;
  if (catchUp.catchUp === 'all') return now.getTime() - instant.getTime() > catchUp.windowMs;
  return periodAt(now, options).key !== key;
}
