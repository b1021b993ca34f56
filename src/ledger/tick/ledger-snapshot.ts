import { momentOf, type Moment } from '../../core/clock';
import { periodAt, type Period } from '../periods/period';
import { askForPeriod, periodsWithoutRun, type PeriodicJob } from '../expected';
import { planCatchUp, type CatchUpPlan } from '../policy/catch-up';
import { calendarPeriodsOf, type JobPolicy } from '../policy/job-policy';
import { checkInstant, type RunKey, type RunSummary } from '../run';
import type { Peek } from '../run-store';
import { limitOf, type LedgerContext } from '../store-statements';

export interface PeriodRequest extends PeriodicJob {
  readonly scope: string;
  /**
   * `'tick'`; `'retry'` for a retried tick; `'made-up'` for a scheduled time by the database's clock that no tick has answered;
   * `'overdue'` for overdue runs without a tick, and so without a scheduled time.
   */
  readonly purpose: 'tick' | 'retry' | 'made-up' | 'overdue';
  /** Determines the period, regardless of the current time. No other run is started then. */
  readonly at?: Date | undefined;
  readonly scheduledAt?: Date | undefined;
  /** Of a job that runs once per tick. */
  readonly tick?: TickOptions | undefined;
  /** When this host received the tick. Its wall clock may have been wrong. */
  readonly receivedAt?: Moment | undefined;
}

export interface TickOptions {
  /** The scheduled time of a call without one, for which all instances together run the job once. */
  readonly timeOf?: ((now: Date) => Date) | undefined;
  /** Set for a call that is a run of its own. */
  readonly id?: string | undefined;
  /** The next scheduled time, at which a retry comes too late. `undefined`: the call is not retried. */
  readonly nextAfter?: ((scheduledAt: Date) => Date | undefined) | undefined;
}

export interface LedgerSnapshot {
  readonly now: Date;
  /** The instant that decides the period. */
  readonly instant: Date;
  /** The scheduled time by the database's clock. `undefined` if no tick caused the request. */
  readonly scheduledAt: Date | undefined;
  readonly period: Period;
  readonly run: RunSummary | undefined;
  readonly recorded: Peek;
  readonly warnings: readonly string[];
}

const MOST_READS = 3;

/**
 * Reads the database's time and the rows of the period that it belongs to. A second read is needed only if the period
 * guessed for the first one was wrong.
 *
 * @throws LockStorageError if the store does not answer
 * @throws InvalidLockConfigurationError if a key function throws or returns an invalid key, and for an instant that
 *   cannot be stored
 */
export async function readSnapshot(context: LedgerContext, request: PeriodRequest): Promise<LedgerSnapshot> {
  const { policy, scope, at, tick } = request;
  checkInstant(at, `at of job '${policy.job}'`);
  checkInstant(request.scheduledAt, `scheduledAt of job '${policy.job}'`);
  const receivedAt = request.purpose === 'retry' ? request.receivedAt : undefined;
  const scheduledAt = request.scheduledAt ?? (receivedAt && new Date(receivedAt.wallMs));
  // A time that only the host's clock has supplied is always corrected by that clock's error.
  // The key of a tick is the time that its scheduler names, on each instance.
  const isExact = policy.period.kind === 'tick' || request.purpose === 'made-up';
  const toleratedMs = isExact ? Infinity : policy.maxSkewMs;
  const maxSkewMs = request.scheduledAt === undefined ? 0 : toleratedMs;
  const { clock, store } = context;
  let guess = at ?? scheduledAt ?? new Date(clock.wallMs());
  for (let reads = 1; ; reads += 1) {
    const periodKey = periodOf(request, guess).key;
    const since = at === undefined ? windowStart(policy, guess) : undefined;
    const beforeMs = clock.wallMs();
    const peek = await store.peek({ job: policy.job, scope, periodKey, since }, limitOf(context));
    const { now } = peek;
    const nowSkewMs = (beforeMs + clock.wallMs()) / 2 - now.getTime();
    const skewMs =
      receivedAt === undefined ? nowSkewMs : skewWhenReceived(receivedAt, momentOf(clock), nowSkewMs);
    const { instant, warning } =
      at || !scheduledAt ? { instant: at ?? now } : correctedTime(scheduledAt, skewMs, maxSkewMs);
    const period = periodOf(request, instant);
    if (period.key === periodKey || reads === MOST_READS || tick?.id !== undefined) {
      const isUnknown = at === undefined && scheduledAt === undefined && request.purpose !== 'overdue';
      const warnings = [request.scheduledAt && warning, isUnknown ? nearMissWarning(policy, now) : undefined];
      return {
        now,
        instant,
        scheduledAt: databaseTimeOfTick(request, scheduledAt, skewMs, now),
        period,
        run: peek.runs.find((run) => run.periodKey === period.key),
        recorded: peek,
        warnings: warnings.filter((each) => each !== undefined),
      };
    }
    guess = instant;
  }
}

export function periodOf({ policy, tick }: Pick<PeriodRequest, 'policy' | 'tick'>, instant: Date): Period {
  const { timeOf, id } = tick ?? {};
  const period = policy.periodAt(timeOf?.(instant) ?? instant);
  return id === undefined ? period : { ...period, key: `${period.key}#${id}` };
}

/** The scheduled time by the database's clock, or now. Even a small difference counts: a deadline may be as short. */
function databaseTimeOfTick(
  request: PeriodRequest,
  scheduledAt: Date | undefined,
  skewMs: number,
  now: Date,
): Date | undefined {
  if (request.purpose === 'overdue') return undefined;
  if (request.purpose === 'made-up') return scheduledAt;
  if (request.scheduledAt === undefined && request.at !== undefined) return undefined;
  return scheduledAt === undefined ? now : new Date(scheduledAt.getTime() - skewMs);
}

/** The start of the rows that are read for catch-up: the start of the period in which the catch-up window begins. */
function windowStart(policy: JobPolicy, guess: Date): Date | undefined {
  const { catchUp, windowMs } = policy.catchUp;
  const periods = calendarPeriodsOf(policy);
  if (catchUp === 'none' || periods === undefined) return undefined;
  return periodAt(new Date(guess.getTime() - windowMs - policy.maxSkewMs), periods).start;
}

function nearMissWarning(policy: JobPolicy, now: Date): string | undefined {
  const { period } = policy;
  const { end } =
    period.target === 'previous' ? periodAt(now, { ...period, target: 'current' }) : policy.periodAt(now);
  if (!isJustBefore(now, end)) return undefined;
  return `Job '${policy.job}' was started at ${now.toISOString()} by the database's clock, just before its next period begins, so it counts for the current period. Pass scheduledAt, because a scheduler may fire a little early.`;
}

export const NOTHING_MISSED: CatchUpPlan = { catchUp: [], missed: [], failures: [] };

export async function findMissedPeriods(
  context: LedgerContext,
  request: PeriodicJob & Pick<PeriodRequest, 'scope'>,
  { recorded }: LedgerSnapshot,
): Promise<CatchUpPlan> {
  const { policy, scope, expectation } = request;
  const { catchUp, windowMs } = policy.catchUp;
  const periods = calendarPeriodsOf(policy);
  if (catchUp === 'none' || periods === undefined) return NOTHING_MISSED;
  const from = new Date(recorded.now.getTime() - windowMs);
  const withoutRun = periodsWithoutRun(expectation, periods, recorded, from);
  const asked = withoutRun.map(async (period) => ({
    period,
    answer: await askForPeriod(context, request, period),
  }));
  const possible = (await Promise.all(asked)).filter(({ answer }) => answer !== 'holiday');
  if (possible.length === 0) return NOTHING_MISSED;
  const failed = 'the periods that operators have skipped could not be read';
  const reading = findSkippedKeys(context, { job: policy.job, scope });
  const skipped = await reading.catch((cause: unknown) => ({ failed, cause }));
  // A failure to read about other days does not delay today's run.
  if ('failed' in skipped) return { ...NOTHING_MISSED, failures: [skipped] };
  const missed = possible.filter(({ period }) => !skipped.has(period.key));
  return planCatchUp(policy.catchUp, missed);
}

/**
 * By how much the host's wall clock was ahead of the database's when the host received a tick. The two could not be
 * compared then. If the wall clock has since fallen behind the monotonic one, it was set back. If it ran ahead, it is
 * trusted: a suspended machine looks the same, and its ticks must not move to the next period.
 *
 * @param nowSkewMs by how much the wall clock is ahead now
 */
function skewWhenReceived(receivedAt: Moment, now: Moment, nowSkewMs: number): number {
  const setForwardMs = now.wallMs - receivedAt.wallMs - (now.monotonicMs - receivedAt.monotonicMs);
  return nowSkewMs - Math.min(0, setForwardMs);
}

/**
 * Decides the instant of a tick's period: its scheduled time, however late it comes, unless that clock was wrong.
 *
 * @param scheduledAt by the host's clock
 * @param skewMs by how much that clock is ahead of the database's
 */
export function correctedTime(
  scheduledAt: Date,
  skewMs: number,
  maxSkewMs: number,
): { readonly instant: Date; readonly warning?: string } {
  if (Math.abs(skewMs) <= maxSkewMs) return { instant: scheduledAt };
  const instant = new Date(scheduledAt.getTime() - skewMs);
  const skew = `${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs > 0 ? 'ahead of' : 'behind'}`;
  return {
    instant,
    warning: `The clock of this host is ${skew} the database's, so a tick scheduled at ${scheduledAt.toISOString()} counts as one at ${instant.toISOString()}. Check that the host's time is synchronized.`,
  };
}

/**
 * Whether a period ends within 5 seconds. If only the database's clock decides the period, a tick that comes a little
 * early counts for the period before.
 */
export function isJustBefore(now: Date, end: Date | undefined): boolean {
  return end !== undefined && end.getTime() - now.getTime() <= 5000;
}

/** More than the periods that any job has to catch up with. */
const MOST_SKIPPED = 1000;

/**
 * Finds the newest skipped periods of a job. If an operator skips a period in a process where the job is not
 * registered, its row has no start. Then only its key shows that the period is not a gap.
 */
export async function findSkippedKeys(
  context: LedgerContext,
  { job, scope }: Pick<RunKey, 'job' | 'scope'>,
): Promise<ReadonlySet<string>> {
  const query = { job, scope, states: ['skipped'], order: 'newest-first', limit: MOST_SKIPPED } as const;
  return new Set((await context.store.find(query, limitOf(context))).map(({ periodKey }) => periodKey));
}
