import { InvalidLockConfigurationError, noneAfter, SchemaMismatchError, type LockState } from '../../core';
import { isAhead } from '../../core/clock';
import { readHold } from '../../core/lease/hold-owner';
import { instanceOf, isKept, leaseOf } from '../../core/lease/owner';
import type { RegisteredJob, Run } from '../../ledger';
import { LATE_AFTER_MS, lateTime, nextTimeOf } from '../../ledger/expected';
import { zoneOf } from '../../ledger/known-register';
import { isRunAhead, readLockId } from '../../ledger/run';
import {
  operatorCommand,
  stateOfRun,
  timeText,
  type RunWords,
  type When,
} from '../../ledger/operator/state-of-run';
import { describeDuration, relative } from '../log/time-texts';
import { clockRemark, endOfHold, missedRemark, unreachableRemark, type JobRemark } from './remarks';
import { isNoAnswer, type GuardLocks } from './guard-locks';
import { JobCatalog } from './job-catalog';

/** Something that keeps a job from running, and the command that ends it, for an operator who has checked that it may. */
type Obstacle = Omit<JobRemark, 'kind'> & { readonly reason: string };

/** What keeps a job from running now, also a job that has only a lock. */
export interface Why {
  readonly obstacles: readonly Obstacle[];
  /** Of a job that does what it should: a sentence. */
  readonly running: string | undefined;
  /** The last run of a past period, if it has not completed. It keeps no tick from running. */
  readonly past: Obstacle | undefined;
  readonly missed: JobRemark | undefined;
  /** A sentence about its next tick, if that is known. */
  readonly tick: string | undefined;
  readonly lock: LockState | undefined;
  readonly newestRun: Run | undefined;
  readonly nextScheduledAt: Date | undefined;
  /** The table of runs is missing, or cannot be read. */
  readonly runsUnknown: Error | undefined;
}

/**
 * @param options.at puts an instant into words. Default: the time in its time zone
 * @throws InvalidLockUseError for a job that is not registered, has no runs and no lock
 */
export async function readWhy(
  guard: { readonly locks: GuardLocks },
  job: string,
  { scope, at = timeText }: { readonly scope?: string | undefined; readonly at?: typeof timeText } = {},
): Promise<Why> {
  // Without a run store, all jobs have only locks.
  const jobs = await JobCatalog.of(guard).catch(noneAfter(InvalidLockConfigurationError));
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
  const isPast = run && isEnded && !isRunAhead(run, now) && jobs?.isCurrent(run) === false;
  const when: When = (instant) => `at ${at(instant, zoneOf(registered?.declared))}`;
  const lockId =
    run?.state === 'running' && jobs !== undefined
      ? await readLockId(jobs.context.lockProvider, registered?.declared.lock ?? job)
      : undefined;
  const ofRun = run && runObstacle(run, { isLocked: lock?.isHeld === true, lockId, when, now });
  const nextScheduledAt = registered && nextTimeOf(registered, now);
  const late =
    registered && lateTime(registered, run ? [run] : [], { now, lateAfterMs: LATE_AFTER_MS, lock });
  const [missed] = missedRemark(job, (await jobs?.missed([job]))?.get(job) ?? []);
  return {
    obstacles: [
      ...(down ? [{ reason: down.kind, text: down.text }] : []),
      ...lockObstacles(lock, registered, now, when),
      ...(ofRun && !isPast ? [ofRun] : []),
    ],
    running: lock && isRunning(lock, registered, now) ? runningText(lock, registered, run, now) : undefined,
    past: isPast && run.state !== 'completed' ? ofRun : undefined,
    missed,
    tick: tickText(nextScheduledAt, late, when),
    lock,
    newestRun: run,
    nextScheduledAt,
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

function lockObstacles(
  lock: LockState | undefined,
  registered: RegisteredJob | undefined,
  now: Date,
  when: When,
): Obstacle[] {
  if (!lock?.isHeld) return [];
  const { name, lockedBy, lockedAt, lockUntil } = lock;
  const hold = readHold(lockedBy);
  if (hold !== undefined) {
    const text = `${hold.actor} holds lock '${name}': ${hold.reason}. No instance runs the job. The hold began ${when(hold.since)}, and ends ${when(lockUntil)}. To end it now:`;
    return [{ reason: 'held', text, command: endOfHold(name, registered) }];
  }
  const [ahead] = clockRemark(lock);
  if (ahead !== undefined) return [{ ...ahead, reason: ahead.kind }];
  if (isKept(lockedBy)) {
    const text = `lockAtLeastFor keeps lock '${name}'. It ends ${when(lockUntil)}. The run on ${instanceOf(lockedBy)} has ended.`;
    return [{ reason: 'kept', text }];
  }
  const granted = lockedAt === undefined ? '' : ` was granted ${when(lockedAt)}, and`;
  const held = `Lock '${name}' is held by ${instanceOf(lockedBy)}. Its lease${granted} ends ${when(lockUntil)} at the latest.`;
  if (isRunning(lock, registered, now)) {
    const text = `${held} Its holder renews it, so it is running: wait for its end. If it crashes, it renews no more, and this command shows how to release the lock.`;
    return [{ reason: 'locked', text }];
  }
  const text = `${held} It becomes free when the holder ends. If the holder has crashed, release it:`;
  const command = operatorCommand('release', [name], ['--owner', lockedBy]);
  return [{ reason: 'locked', text, command }];
}

/** A holder renews at the latest when half of its lease has passed. The share of it that is left shows one that does not. */
const LEFT_AFTER_RENEWAL = 0.4;

/** Whether the holder took or renewed its lease not long ago, and will renew it again. */
export function isRunning(
  { isHeld, lockedBy, lockUntil, lockedAt, readAt }: LockState,
  registered: RegisteredJob | undefined,
  now: Date,
): boolean {
  if (!isHeld || isKept(lockedBy) || readHold(lockedBy) || isAhead(lockedAt, readAt)) return false;
  // Without a declaration, the length of the lease is unknown.
  if (registered === undefined) return leaseOf(lockedBy) !== lockedBy;
  const { keepAlive, lockAtMostForMs } = registered.declared;
  const leftMs = lockUntil.getTime() - now.getTime();
  return keepAlive && leftMs >= lockAtMostForMs * LEFT_AFTER_RENEWAL;
}

function runningText(
  { lockedBy, lockedAt, lockUntil }: LockState,
  registered: RegisteredJob | undefined,
  run: Run | undefined,
  now: Date,
): string {
  const [attempt, startedAt = lockedAt] =
    run?.state === 'running' ? [`attempt ${run.attempt} `, run.startedAt] : [''];
  const since = startedAt && `for ${describeDuration(Math.max(0, now.getTime() - startedAt.getTime()))} `;
  const leaseMs = registered?.declared.lockAtMostForMs;
  const renewedAt = leaseMs === undefined ? undefined : new Date(lockUntil.getTime() - leaseMs);
  const isRenewed = renewedAt && lockedAt && renewedAt.getTime() - lockedAt.getTime() >= 1000;
  const renewed = isRenewed ? `, lease renewed ${relative(renewedAt, now)}` : '';
  return `Running normally: ${attempt}${since ?? ''}on ${instanceOf(lockedBy)}${renewed}.`;
}

function runObstacle(run: Run, words: RunWords): Obstacle {
  const state = stateOfRun(run, words);
  const advice = state.remedy === undefined ? '' : ` ${state.remedy.advice}`;
  const text = `The run for ${run.periodKey} ${state.sentence}.${advice}`;
  return { reason: run.state, text, command: state.remedy?.command };
}

function tickText(next: Date | undefined, late: Date | undefined, when: When): string | undefined {
  if (late !== undefined)
    return `Its tick ${when(late)} has not been answered: check that an instance with this job is running.`;
  return next && `Its next tick is ${when(next)}.`;
}
