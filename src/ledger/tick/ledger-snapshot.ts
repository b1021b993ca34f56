import type { Clock } from '../../core';
import { askCalendar, type CalendarFailure } from '../periods/calendar';
import { periodAt, type Period } from '../periods/period';
import { planCatchUp, unansweredPeriods, type CatchUpPlan } from '../policy/catch-up';
import { calendarPeriodsOf, type JobPolicy } from '../policy/job-policy';
import type { RunKey, RunSummary } from '../run';
import type { Peek } from '../run-store';
import { limitOf, type StoreContext } from '../store-statements';

export interface LookRequest {
  readonly policy: JobPolicy;
  readonly scope: string;
  /** Names the period, whatever the time. */
  readonly at?: Date | undefined;
  readonly scheduledAt?: Date | undefined;
  /** When this host heard of a tick that is asked again. */
  readonly heard?: HostTime | undefined;
  /** `'owed'`: there is no tick, whose instant somebody might have known. */
  readonly purpose?: 'tick' | 'again' | 'owed' | undefined;
}

/** What a look before the lock has found. */
export interface Sight {
  readonly now: Date;
  /** What decides the period. */
  readonly instant: Date;
  /** The period that is asked about, and what its row says, if there is one. */
  readonly period: Period;
  readonly run: RunSummary | undefined;
  /** Other periods, whose runs are due or may have been left behind. The earliest first. */
  readonly owed: readonly RunSummary[];
  readonly recorded: Peek;
  readonly warnings: readonly string[];
}

const MOST_LOOKS = 3;

/**
 * One read tells the database's now, and with it which period is meant; it has to be a second one only where the guess
 * was wrong that it was made with.
 *
 * @throws LockStorageError when the store cannot be asked
 * @throws InvalidLockConfigurationError when a key function throws, or returns what cannot be a key
 */
export async function look(context: StoreContext, request: LookRequest): Promise<Sight> {
  const { policy, scope, at } = request;
  const heard = request.purpose === 'again' ? request.heard : undefined;
  const scheduledAt = request.scheduledAt ?? (heard && new Date(heard.wallMs));
  // What the host's clock alone has told is always corrected by how wrong that clock is.
  const maxSkewMs = request.scheduledAt === undefined ? 0 : policy.maxSkewMs;
  const { clock, store } = context;
  let guess = at ?? scheduledAt ?? new Date(clock.wallMs());
  for (let looks = 1; ; looks += 1) {
    const periodKey = periodAt(guess, policy.period).key;
    const since = at === undefined ? windowStart(policy, guess) : undefined;
    const beforeMs = clock.wallMs();
    const peek = await store.peek({ job: policy.job, scope, periodKey, since }, limitOf(context));
    const { now } = peek;
    const nowSkewMs = (beforeMs + clock.wallMs()) / 2 - now.getTime();
    const skewMs = heard === undefined ? nowSkewMs : skewWhenHeard(heard, hostTime(clock), nowSkewMs);
    const { instant, warning } = at
      ? { instant: at, warning: undefined }
      : whichInstant({ scheduledAt, now, skewMs, maxSkewMs });
    const period = periodAt(instant, policy.period);
    if (period.key === periodKey || looks === MOST_LOOKS) {
      const told = request.scheduledAt === undefined ? undefined : warning;
      const isUnknown = at === undefined && scheduledAt === undefined && request.purpose !== 'owed';
      const warnings = [told, isUnknown ? nearMiss(policy, now) : undefined];
      const said = warnings.filter((each) => each !== undefined);
      return sightOf(peek, { instant, period, warnings: said });
    }
    guess = instant;
  }
}

function sightOf(recorded: Peek, asked: Pick<Sight, 'instant' | 'period' | 'warnings'>): Sight {
  const { period } = asked;
  const { now, runs } = recorded;
  const owed = runs.filter((run) => run.periodKey !== period.key && isOwed(run, now));
  return {
    ...asked,
    now,
    run: runs.find(({ periodKey }) => periodKey === period.key),
    owed: owed.sort((a, b) => startMs(a) - startMs(b)),
    recorded,
  };
}

export function isOwed({ state, nextAttemptAt }: RunSummary, now: Date): boolean {
  switch (state) {
    case 'running':
      return true;
    case 'pending':
    case 'failed':
      return nextAttemptAt !== undefined && nextAttemptAt <= now;
    case 'completed':
    case 'interrupted':
    case 'skipped':
      return false;
  }
}

function startMs({ periodStart, createdAt }: RunSummary): number {
  return (periodStart ?? createdAt).getTime();
}

/** How far back a row may tell that a period was answered for: to the beginning of the one in which the window begins. */
function windowStart(policy: JobPolicy, guess: Date): Date | undefined {
  const { catchUp, windowMs } = policy.catchUp;
  const periods = calendarPeriodsOf(policy);
  if (catchUp === 'none' || periods === undefined) return undefined;
  return periodAt(new Date(guess.getTime() - windowMs - policy.maxSkewMs), periods).start;
}

function nearMiss(policy: JobPolicy, now: Date): string | undefined {
  const { end } = periodAt(now, { ...policy.period, target: 'current' });
  if (!isJustBefore(now, end)) return undefined;
  return `Job '${policy.job}' was started at ${now.toISOString()} by the database's clock, just before its next period begins: it counts for the one before. Pass scheduledAt, so that a scheduler that fires a little early is not taken at its word.`;
}

const NOTHING: MissedPeriods = { run: [], missed: [], undecided: [] };

/** What is to be caught up with, and what failed on the way: a calendar, or the store. */
export interface MissedPeriods extends Pick<CatchUpPlan, 'run' | 'missed'> {
  readonly undecided: readonly CalendarFailure[];
}

/** What is to be caught up with, as the calendar says now. */
export async function lookForMissed(
  context: StoreContext,
  { policy, scope }: Pick<LookRequest, 'policy' | 'scope'>,
  { now, recorded }: Sight,
): Promise<MissedPeriods> {
  const periods = calendarPeriodsOf(policy);
  const { catchUp, limit } = policy.catchUp;
  if (catchUp === 'none' || periods === undefined) return NOTHING;
  const unanswered = unansweredPeriods(
    {
      now,
      current: periodAt(now, periods),
      firstRecordedStart: recorded.firstPeriodStart,
      recordedKeys: new Set(recorded.runs.map(({ periodKey }) => periodKey)),
    },
    policy.catchUp,
    periods,
  );
  const asked = unanswered.map(async (period) => ({
    period,
    answer: await askCalendar(policy.calendar, period.businessDate, context),
  }));
  const possible = (await Promise.all(asked)).filter(({ answer }) => answer !== 'holiday');
  if (possible.length === 0) return NOTHING;
  const skipped = await skippedKeys(context, { job: policy.job, scope }).catch(notKnown);
  // Today's run does not wait for what is to be known of other days.
  if ('failed' in skipped) return { ...NOTHING, undecided: [skipped] };
  const answers = possible.filter(({ period }) => !skipped.has(period.key));
  const { run, missed } = planCatchUp({ catchUp, limit }, answers);
  const undecided = answers.map(({ answer }) => answer).filter((answer) => typeof answer === 'object');
  return { run, missed, undecided };
}

function notKnown(cause: unknown): CalendarFailure {
  return { failed: 'which missed periods were skipped by hand could not be looked up', cause };
}

export interface InstantQuestion {
  /** Of a tick, by the scheduler: the host's clock meant it. */
  readonly scheduledAt: Date | undefined;
  /** The database's. */
  readonly now: Date;
  /** The host's wall clock less the database's. */
  readonly skewMs: number;
  readonly maxSkewMs: number;
}

/** A moment by the two clocks of this host. The wall clock may have been wrong then. */
export interface HostTime {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export function hostTime(clock: Pick<Clock, 'wallMs' | 'monotonicMs'>): HostTime {
  return { wallMs: clock.wallMs(), monotonicMs: clock.monotonicMs() };
}

/**
 * By how much the host's wall clock was ahead of the database's when a tick was heard, which nobody could compare then.
 * A wall clock that fell behind the monotonic one meanwhile was set back. One that ran ahead of it is trusted: a
 * suspended machine looks the same, and its ticks must not move to the next period.
 *
 * @param nowSkewMs by how much it is ahead now
 */
function skewWhenHeard(heard: HostTime, now: HostTime, nowSkewMs: number): number {
  const setForwardMs = now.wallMs - heard.wallMs - (now.monotonicMs - heard.monotonicMs);
  return nowSkewMs - Math.min(0, setForwardMs);
}

/**
 * Which instant decides the period of a tick. Late is not skewed: however late a tick comes, its scheduled instant
 * counts, unless the clock that scheduled it was wrong.
 */
export function whichInstant({ scheduledAt, now, skewMs, maxSkewMs }: InstantQuestion): {
  readonly instant: Date;
  readonly warning?: string;
} {
  if (scheduledAt === undefined) return { instant: now };
  if (Math.abs(skewMs) <= maxSkewMs) return { instant: scheduledAt };
  const instant = new Date(scheduledAt.getTime() - skewMs);
  return {
    instant,
    warning: `The clock of this host is ${describeSkew(skewMs)} the database's, so a tick scheduled at ${scheduledAt.toISOString()} counts as one at ${instant.toISOString()}. Is the host's time synchronized?`,
  };
}

function describeSkew(skewMs: number): string {
  return `${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs > 0 ? 'ahead of' : 'behind'}`;
}

const NEAR_MS = 5000;

/** Where only the database's clock tells the period, a tick that comes a little early counts for the one before. */
export function isJustBefore(now: Date, end: Date | undefined): boolean {
  return end !== undefined && end.getTime() - now.getTime() <= NEAR_MS;
}

/** More than any job has periods to catch up with. */
const MOST_LOOKED_AT = 1000;

/**
 * The newest skipped periods of a job. A person may have skipped one where the job is not registered, so that nobody
 * knew when it begins: only its key tells that it is no gap.
 */
export async function skippedKeys(
  context: StoreContext,
  { job, scope }: Pick<RunKey, 'job' | 'scope'>,
): Promise<ReadonlySet<string>> {
  const query = { job, scope, states: ['skipped'], order: 'newest-first', limit: MOST_LOOKED_AT } as const;
  const runs = await context.store.find(query, limitOf(context));
  return new Set(runs.map(({ periodKey }) => periodKey));
}
