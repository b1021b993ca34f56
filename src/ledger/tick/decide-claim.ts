import type { SkipReason } from '../../core';
import { timeText } from '../operator/state-of-run';
import { earliestTickOf, isPastStartDeadline, type JobPolicy } from '../policy/job-policy';
import { retriesEndAt } from '../policy/retry';
import { identityOf, LEASE_ENDED, madeUpMark, type Claim, type Run, type RunSummary } from '../run';
import { runEventOf, type Decision, type FoundRun, type NewRun, type NewRunEvent } from '../run-store';

/** The holder of a lock that is about to claim a run, for one attempt. */
export interface ClaimHolder extends NonNullable<NewRun['started']> {
  /** Whether an attempt still runs in this process. Without tokens, only this shows that its holder has not crashed. */
  readonly isRunningHere?: ((claimedBy: string) => boolean) | undefined;
  /** The scheduled time of the run's own tick, by the database's clock, if that tick makes the claim. */
  readonly scheduledAt?: Date | undefined;
}

export type ClaimVerdict =
  /** `lost` is the attempt that this one repeats, if any. */
  | { readonly kind: 'claimed'; readonly claim: Claim; readonly lost?: Run | undefined }
  /** `lost`: its holder is gone, or has lost its lease. `unproven`: it may still run elsewhere, until its longest lease has ended. */
  | {
      readonly kind: 'refused';
      readonly reason: SkipReason;
      readonly lost?: Run | undefined;
      readonly unproven?: Run | undefined;
    };

/** Decides whether this holder of the lock may start the run now, and as which attempt. Pure, for `RunStore.change`. */
export function decideClaim(
  found: FoundRun | undefined,
  holder: ClaimHolder,
  policy: JobPolicy,
): Decision<ClaimVerdict | undefined> {
  if (found === undefined) return { value: undefined };
  const { run, now } = found;
  if (run.state === 'running') {
    // Our own claim, whose reply was lost.
    if (run.claimedBy === holder.claimedBy) return { value: { kind: 'claimed', claim: claimOf(run) } };
    if (isSameGrant(run, holder)) return refuse('running-elsewhere');
    return isGone(found, holder) ? replaceLost(found, holder, policy) : refuseUnproven(run);
  }
  if ((run.state === 'pending' || run.state === 'failed') && isStale(found, holder))
    return refuseUnproven(run);
  const reason = refusalOf(run, now);
  return reason === undefined ? startDue(found, holder, policy) : refuse(reason);
}

/** Why the run cannot be started, as far as its row shows. */
export function refusalOf({ state, nextAttemptAt }: RunSummary, now: Date): SkipReason | undefined {
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

/**
 * Whether the attempt's holder is gone. A later grant of the same lock shows that every earlier one has ended. Under
 * another lock, only time shows it.
 */
function isGone({ run, now }: FoundRun, { lockId, fencingToken }: ClaimHolder): boolean {
  if (run.leaseUntil === undefined || run.leaseUntil <= now) return true;
  if (run.lockId !== lockId) return false;
  if (run.fencingToken === undefined || fencingToken === undefined) return true;
  return fencingToken > run.fencingToken;
}

/** One lease covers both attempts, so the earlier one is still running. */
function isSameGrant(run: Run, { lockId, fencingToken, isRunningHere }: ClaimHolder): boolean {
  if (run.lockId !== lockId) return false;
  if (run.fencingToken !== undefined && fencingToken !== undefined) return run.fencingToken === fencingToken;
  return run.claimedBy !== undefined && isRunningHere?.(run.claimedBy) === true;
}

/** Whether the grant is older than the row's. Not after the row's lease: a lost token counter must not block forever. */
function isStale({ run, now }: FoundRun, { lockId, fencingToken }: ClaimHolder): boolean {
  if (run.lockId !== lockId || run.fencingToken === undefined || fencingToken === undefined) return false;
  return fencingToken < run.fencingToken && run.leaseUntil !== undefined && run.leaseUntil > now;
}

function startDue(found: FoundRun, holder: ClaimHolder, policy: JobPolicy): Decision<ClaimVerdict> {
  const { run, now } = found;
  const spent = exhaustedReason(found, policy);
  if (spent !== undefined) {
    const write: Run = { ...run, state: 'failed', reason: spent, nextAttemptAt: undefined };
    return { value: { kind: 'refused', reason: 'exhausted' }, write };
  }
  // Only in the first generation: a run that an operator has rerun is wanted, however late.
  const isFirst = run.attempt === 0 && run.firstStartedAt === undefined && run.generation === 0;
  const scheduledAt = holder.scheduledAt ?? assumedScheduledTime(run, policy);
  if (isFirst && isPastStartDeadline(policy.startDeadlineMs, scheduledAt, now)) {
    const write: Run = { ...run, state: 'skipped', reason: 'deadline', nextAttemptAt: undefined };
    return { value: { kind: 'refused', reason: 'deadline' }, write };
  }
  const write = startAttempt(found, holder);
  return { value: { kind: 'claimed', claim: claimOf(write) }, write };
}

/**
 * The row does not contain the scheduled time. A row that was created while ticks of its period could come is that of a
 * tick. An operator added any other row, and no tick of its period can have been scheduled earlier than this.
 */
function assumedScheduledTime(run: Run, { period, periodAt }: JobPolicy): Date | undefined {
  const { createdAt, periodStart: start, periodEnd: end } = run;
  if (typeof period.kind === 'function' || periodAt(createdAt).key === run.periodKey) return createdAt;
  return earliestTickOf({ start, end }, period);
}

function replaceLost(found: FoundRun, holder: ClaimHolder, policy: JobPolicy): Decision<ClaimVerdict> {
  const { run, now } = found;
  const events = [lostEventOf(run)];
  // The error is that of an earlier attempt, which the history keeps.
  const ended = { ...run, reason: LEASE_ENDED, error: undefined, finishedAt: now };
  if (policy.onCrash === 'hold') {
    const write: Run = { ...ended, state: 'interrupted' };
    return { value: { kind: 'refused', reason: 'interrupted', lost: run }, write, events };
  }
  if (exhaustedReason(found, policy) !== undefined) {
    const write: Run = { ...ended, state: 'failed', nextAttemptAt: undefined };
    return { value: { kind: 'refused', reason: 'exhausted', lost: run }, write, events };
  }
  const write = startAttempt(found, holder);
  return { value: { kind: 'claimed', claim: claimOf(write), lost: run }, write, events };
}

function exhaustedReason({ run, now }: FoundRun, { retry }: JobPolicy): 'exhausted' | 'until' | undefined {
  const { attempt, firstStartedAt, periodEnd } = run;
  if (attempt >= retry.maxAttempts) return 'exhausted';
  const until = firstStartedAt && retriesEndAt(firstStartedAt, periodEnd, retry);
  return until !== undefined && now >= until ? 'until' : undefined;
}

function startAttempt(
  { run, now }: FoundRun,
  { claimedBy, lockId, fencingToken, leaseMs }: ClaimHolder,
): Run {
  return {
    ...run,
    claimedBy,
    lockId,
    fencingToken,
    leaseUntil: new Date(now.getTime() + leaseMs),
    state: 'running',
    attempt: run.attempt + 1,
    firstStartedAt: run.firstStartedAt ?? (run.attempt === 0 ? now : run.startedAt),
    startedAt: now,
    finishedAt: undefined,
    nextAttemptAt: undefined,
    reason: madeUpMark(run),
  };
}

function claimOf(run: Run): Claim {
  return { ...identityOf(run), claimedBy: run.claimedBy ?? '' };
}

export function lostEventOf(run: Run, why = 'its lease ended'): NewRunEvent {
  const { startedAt } = run;
  const detail = startedAt && `${why}; the attempt had started at ${timeText(startedAt, run.timeZone)}`;
  return runEventOf(run, 'lost', detail);
}

function refuse(reason: SkipReason): Decision<ClaimVerdict> {
  return { value: { kind: 'refused', reason } };
}

function refuseUnproven(unproven: Run): Decision<ClaimVerdict> {
  return { value: { kind: 'refused', reason: 'running-elsewhere', unproven } };
}
