import { askCalendar, type CalendarFailure } from '../periods/ask-calendar';
import { calendarPeriodsOf, type JobPolicy } from '../policy/job-policy';
import { periodAt, type Period } from '../periods/period';
import { planCatchUp, type CatchUpPlan } from '../policy/plan-catch-up';
import type { RunSummary } from '../run';
import type { Peek } from '../run-store';
import { limitOf, type StoreContext } from '../store-statements';
import { skippedKeys } from './skipped-keys';
import { unansweredPeriods } from '../policy/unanswered-periods';
import { hostTime, isJustBefore, skewWhenHeard, whichInstant, type HostTime } from './which-instant';

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
  if (policy.catchUp.catchUp === 'none' || periods === undefined) return NOTHING;
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
  const { run, missed } = planCatchUp(policy.catchUp, answers);
  const undecided = answers.map(({ answer }) => answer).filter((answer) => typeof answer === 'object');
  return { run, missed, undecided };
}

function notKnown(cause: unknown): CalendarFailure {
  return { failed: 'which missed periods were skipped by hand could not be looked up', cause };
}
