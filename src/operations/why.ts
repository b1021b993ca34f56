import { SchemaMismatchError, type LockState } from '../core';
import { isAhead } from '../core/clock';
import { isHeldByProcess, readHold } from '../core/lease/hold-owner';
import { instanceOf, isKept, leaseOf } from '../core/lease/owner';
import type { RegisteredJob, Run } from '../ledger';
import { LATE_AFTER_MS, lateTime, nextTimeOf } from '../ledger/expected';
import { whyDisabled, zoneOf } from '../ledger/job-register';
import { isRunAhead, readLockId } from '../ledger/run';
import { releaseOf, remedyFor } from '../ledger/operator/remedy';
import { stateOfRun, type RunWords, type When } from '../ledger/operator/state-of-run';
import { timeAt, type WhenOfJob } from './overview';
import { describeDuration, relative } from '../guard/log/time-texts';
import { clockRemark, endOfPause, missedRemark, unreachableRemark, type JobRemark } from './remarks';
import type { GuardLocks } from '../guard';
import { isNoAnswer } from './held-locks';
import { catalogIfAny } from './job-catalog';

/** Something that keeps a job from running, and the act that ends it, for an operator who has checked that it may. */
type Obstacle = Pick<JobRemark, 'text' | 'remedy'> & { readonly reason: string };

export type Why = Awaited<ReturnType<typeof readWhy>>;

/**
 * What keeps a job from running now, also a job that has only a lock.
 *
 * @param options.when puts its instants into words that follow a verb. Default: `at`, and the time in its time zone
 * @throws InvalidLockUseError for a job that is not registered, has no runs and no lock
 */
export async function readWhy(
  guard: { readonly locks: GuardLocks },
  job: string,
  {
    scope,
    when: inWords = timeAt,
  }: { readonly scope?: string | undefined; readonly when?: WhenOfJob | undefined } = {},
) {
  // Without a run store, all jobs have only locks.
  const jobs = await catalogIfAny(guard);
  const registered = jobs?.get(job);
  const inspected = guard.locks.inspect(registered?.declared.lock ?? job);
  const [lock, failure] = await valueOrFailure(inspected, isNoAnswer);
  const down = failure && unreachableRemark(jobs?.context.lockProvider, failure);
  if (lock === undefined) await jobs?.check(job);
  const newest = registered?.declared.kind === 'lock' ? undefined : jobs?.newestRun(job, scope);
  const isTableMissing = (error: unknown) => error instanceof SchemaMismatchError;
  const [run, runsUnknown] = await valueOrFailure(newest, isTableMissing);
  // A run that has ended stops no tick of another period.
  const isEnded =
    run?.nextAttemptAt === undefined && run?.state !== 'running' && run?.state !== 'interrupted';
  const now = jobs?.now ?? new Date();
  const policy = jobs?.policyOf(job);
  const isPast =
    run && isEnded && !isRunAhead(run, now) && policy && policy.periodAt(now).key !== run.periodKey;
  const timeZone = zoneOf(registered?.declared) ?? run?.timeZone ?? 'UTC';
  const when: When = (instant) => (instant ? inWords(instant, { timeZone, now }) : 'at an unknown time');
  const lockId =
    run?.state === 'running' && jobs !== undefined
      ? await readLockId(jobs.context.lockProvider, registered?.declared.lock ?? job)
      : undefined;
  const ofRun = run && runObstacle(run, { isLocked: isHeldByProcess(lock), lockId, when, now });
  const off = registered && whyDisabled(registered);
  const nextScheduledAt = registered && nextTimeOf(registered, now);
  const late =
    registered && lateTime(registered, run ? [run] : [], { now, lateAfterMs: LATE_AFTER_MS, lock });
  // Of a lock that several jobs share, only a run shows which of them has it.
  const isOwn = run?.state === 'running' || jobs?.jobsOf(registered?.declared.lock ?? job).length === 1;
  const holder = isOwn ? registered : undefined;
  const [missed] = missedRemark(job, (await jobs?.missed([job]))?.get(job) ?? []);
  return {
    now,
    timeZone,
    /** Each with the act that ends it. */
    obstacles: [
      ...(down ? [{ reason: down.kind, text: down.text }] : []),
      ...(off ? [{ reason: 'disabled', text: `Job '${job}' is disabled: ${off}.` }] : []),
      ...lockObstacles({ lock, registered, holder }, now, when),
      ...(ofRun && !isPast ? [ofRun] : []),
    ],
    running: runningText(lock, holder, run, now),
    /** The last run of a past period, if it has not completed. It keeps no tick from running. */
    past: isPast && run.state !== 'completed' ? ofRun : undefined,
    missed,
    tick: tickText(job, nextScheduledAt, late, when),
    record: registered?.declared.kind === 'lock' ? NO_RECORD : undefined,
    lock,
    newestRun: run,
    nextScheduledAt,
    /** The table of runs is missing, or cannot be read. */
    runsUnknown,
  };
}

/** The runs are shown even if the lock provider does not answer, and the lock even if the table of runs is missing. */
async function valueOrFailure<T, E extends Error>(
  value: Promise<T> | undefined,
  isFailure: (error: unknown) => error is E,
): Promise<readonly [value?: T | undefined, failure?: E]> {
  try {
    return [await value];
  } catch (error) {
    if (!isFailure(error)) throw error;
    return [undefined, error];
  }
}

/** @param of.holder the job that is known to have the lock */
function lockObstacles(
  of: Record<'registered' | 'holder', RegisteredJob | undefined> & { readonly lock: LockState | undefined },
  now: Date,
  when: When,
): Obstacle[] {
  const { lock, registered, holder } = of;
  if (!lock?.isHeld) return [];
  const { name, lockedBy, lockedAt, lockUntil } = lock;
  const hold = readHold(lockedBy);
  if (hold !== undefined) {
    const text = `${hold.actor} has paused lock '${name}': ${hold.reason}. No instance runs the job. The pause began ${when(hold.since)}, and ends ${when(lockUntil)}. To end it now:`;
    return [{ reason: 'paused', text, remedy: endOfPause(name, registered) }];
  }
  const [ahead] = clockRemark(lock);
  if (ahead !== undefined) return [{ text: ahead.text, remedy: ahead.remedy, reason: ahead.kind }];
  if (isKept(lockedBy)) {
    const text = `lockAtLeastFor keeps lock '${name}'. It ends ${when(lockUntil)}. The run on ${instanceOf(lockedBy)} has ended.`;
    return [{ reason: 'kept', text }];
  }
  const granted = lockedAt === undefined ? '' : ` was granted ${when(lockedAt)}, and`;
  const held = `Lock '${name}' is held by ${instanceOf(lockedBy)}. Its lease${granted} ends ${when(lockUntil)} at the latest.`;
  const { life, dueAt } = lifeOf(lock, holder, now);
  const text = WORDS_OF_LIFE[life](dueAt && when(dueAt), dueAt !== undefined && dueAt <= now);
  const pid = /\/(\d+)$/.exec(instanceOf(lockedBy))?.[1];
  const look = life === 'renews' || pid === undefined ? '' : ` On its host: ps -p ${pid}.`;
  if (!mayBeDead(life)) return [{ reason: 'locked', text: `${held} ${text}${look}` }];
  const advice = 'If you have seen that its process is dead, release it:';
  return [{ reason: 'locked', text: `${held} ${text}${look} ${advice}`, remedy: releaseOf(lock) }];
}

/** What the lease of a held lock shows of its holder. */
type Life = 'renews' | 'not due' | 'late' | 'not renewed' | 'unknown';

const WORDS_OF_LIFE: Readonly<Record<Life, (due: string | undefined, isPast: boolean) => string>> = {
  renews: (due, isPast) =>
    `Its holder renews it${due && !isPast ? `, the next time ${due}` : ''}: wait for its end.`,
  'not due': (due, isPast) =>
    isPast
      ? `Its first renewal was due ${due}, and may be a little late.`
      : `The next renewal is due ${due}. Nothing shows before whether its holder lives.`,
  late: (due) => `Its renewal was due ${due}, and did not come.`,
  'not renewed': () => 'Nothing renews it, so nothing shows whether its holder lives.',
  unknown: () => 'It is unknown when its holder renews it, so nothing shows whether that lives.',
};

/** Whether the release of the lock can be proposed. */
export function mayBeDead(life: Life): boolean {
  return life !== 'renews' && life !== 'not due';
}

/** So much of a lease, and 5 s: a renewal that comes later is late. */
const LATE_SHARE = 0.1;

/**
 * Of a lock that a process holds. Each renewal in a database writes a number after the owner.
 *
 * @param holder the job that is known to have the lock
 */
export function lifeOf(
  { lockedBy, lockedAt, lockUntil, readAt: now }: LockState,
  holder: RegisteredJob | undefined,
  known: Date,
): { readonly life: Life; readonly renewedAt?: Date; readonly dueAt?: Date } {
  const hasNumber = leaseOf(lockedBy) !== lockedBy;
  const { renewEveryMs, lockAtMostForMs, maxLockDurationMs = Infinity } = holder?.declared ?? {};
  if (renewEveryMs === undefined || lockAtMostForMs === undefined)
    return { life: hasNumber ? 'renews' : holder ? 'not renewed' : 'unknown' };
  const [nowMs, renewedMs] = [(now ?? known).getTime(), lockUntil.getTime() - lockAtMostForMs];
  // Not every store keeps when a lock was granted.
  const sinceGrantMs = renewedMs - (lockedAt?.getTime() ?? renewedMs);
  const isLast = sinceGrantMs + lockAtMostForMs >= maxLockDurationMs - TOLERANCE_MS;
  // The lease can have another length: the job has extended it, or an older instance declares it otherwise.
  const isOther = sinceGrantMs < -TOLERANCE_MS || renewedMs > nowMs + TOLERANCE_MS;
  if (isLast || isOther) return { life: 'unknown' };
  const dueMs = renewedMs + renewEveryMs;
  const isLate = nowMs - dueMs > lockAtMostForMs * LATE_SHARE + 5000;
  const isRenewed = hasNumber || sinceGrantMs > TOLERANCE_MS;
  const life = isLate ? 'late' : isRenewed ? 'renews' : 'not due';
  return { life, renewedAt: new Date(renewedMs), dueAt: new Date(dueMs) };
}

/** Of times that two statements wrote. */
const TOLERANCE_MS = 1000;

/** A sentence about a run that is seen to live. */
function runningText(
  lock: LockState | undefined,
  registered: RegisteredJob | undefined,
  run: Run | undefined,
  now: Date,
): string | undefined {
  if (lock === undefined || !isHeldByProcess(lock) || isAhead(lock.lockedAt, lock.readAt)) return undefined;
  const { life, renewedAt } = lifeOf(lock, registered, now);
  if (life !== 'renews') return undefined;
  const { lockedBy, lockedAt } = lock;
  const [attempt, startedAt = lockedAt] =
    run?.state === 'running' ? [`attempt ${run.attempt} `, run.startedAt] : [''];
  const since = startedAt && `for ${describeDuration(Math.max(0, now.getTime() - startedAt.getTime()))} `;
  const renewed = renewedAt ? `, lease renewed ${relative(renewedAt, now)}` : '';
  return `Running: ${attempt}${since ?? ''}on ${instanceOf(lockedBy)}${renewed}.`;
}

function runObstacle(run: Run, words: RunWords): Obstacle {
  const { state, sentence, advice, remedy } = stateOfRun(run, words);
  const text = `The run for ${run.periodKey} ${sentence}.${advice ? ` ${advice}` : ''}`;
  return { reason: state, text, remedy };
}

const NO_RECORD = `It keeps no runs: its failures are in the logs of its instances. To keep runs, use @OncePer('tick').`;

function tickText(job: string, next: Date | undefined, late: Date | undefined, when: When) {
  if (late === undefined) return next && { text: `Its next tick is ${when(next)}.` };
  const text = `Its tick ${when(late)} has not been answered: check that an instance with this job is running. To run it:`;
  return { text, remedy: remedyFor('run', { job }) };
}
