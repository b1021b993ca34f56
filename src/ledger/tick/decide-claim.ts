import { startDeadlinePassed, type JobPolicy } from '../policy/job-policy';
import { retriesEndAt } from '../policy/retry';
import type { Claim, Run } from '../run';
import type { Decision, FoundRun, NewRunEvent } from '../run-store';

/** Who wants to start the run: the holder of a lock, for one attempt. */
export interface Claimant {
  /** Made for this attempt alone. */
  readonly claimedBy: string;
  readonly lockId: string;
  readonly fencingToken: number | undefined;
  /** How long the attempt's lease can last at the most, renewals included. */
  readonly leaseMs: number;
  /** Whether an attempt still goes on in the claimant's own process: without tokens nothing else tells it of a vanished one. */
  readonly isHere?: ((claimedBy: string) => boolean) | undefined;
}

type ClaimRefusal =
  | 'already-completed'
  | 'running-elsewhere'
  | 'not-due'
  | 'exhausted'
  | 'interrupted'
  | 'skipped'
  | 'deadline';

export type ClaimVerdict =
  | { readonly kind: 'absent' }
  /** `lost` is the attempt that is repeated, if one is. */
  | { readonly kind: 'claimed'; readonly claim: Claim; readonly lost?: Run | undefined }
  /** `lost` is the attempt whose holder vanished, where this look has found that out. */
  | { readonly kind: 'refused'; readonly reason: ClaimRefusal; readonly lost?: Run | undefined };

type Policy = Pick<JobPolicy, 'retry' | 'onCrash' | 'startDeadlineMs'>;

/**
 * May this holder of the lock start this run now, and as which attempt? Pure: the store locks the row, asks, and writes
 * what is answered.
 */
export function decideClaim(
  found: FoundRun | undefined,
  claimant: Claimant,
  policy: Policy,
): Decision<ClaimVerdict> {
  if (found === undefined) return { value: { kind: 'absent' } };
  const { run } = found;
  switch (run.state) {
    case 'completed':
      return refuse('already-completed');
    case 'skipped':
    case 'interrupted':
      return refuse(run.state);
    case 'running':
      // A claim of our own whose answer was lost.
      if (run.claimedBy === claimant.claimedBy) return { value: { kind: 'claimed', claim: claimOf(run) } };
      return isGone(found, claimant) ? replaceLost(found, claimant, policy) : refuse('running-elsewhere');
    case 'pending':
    case 'failed':
      return isStale(found, claimant) ? refuse('running-elsewhere') : startIfDue(found, claimant, policy);
  }
}

/** Whoever holds the same lock, by a later grant, knows that every earlier one is over. Under another lock only time tells. */
function isGone({ run, now }: FoundRun, claimant: Claimant): boolean {
  const { lockId, fencingToken } = claimant;
  if (isSameGrant(run, claimant)) return false;
  if (run.leaseUntil === undefined || run.leaseUntil <= now) return true;
  if (run.lockId !== lockId) return false;
  if (run.fencingToken === undefined || fencingToken === undefined) return true;
  return fencingToken > run.fencingToken;
}

/** One lease holds both attempts, so the earlier one still goes on. */
function isSameGrant(run: Run, { lockId, fencingToken, isHere }: Claimant): boolean {
  if (run.lockId !== lockId) return false;
  if (run.fencingToken !== undefined && fencingToken !== undefined) return run.fencingToken === fencingToken;
  return run.claimedBy !== undefined && isHere?.(run.claimedBy) === true;
}

/** An older grant than the one that wrote the row; unless the counter was lost, which must not block the job for ever. */
function isStale({ run, now }: FoundRun, { lockId, fencingToken }: Claimant): boolean {
  if (run.lockId !== lockId || run.fencingToken === undefined || fencingToken === undefined) return false;
  return fencingToken < run.fencingToken && run.leaseUntil !== undefined && run.leaseUntil > now;
}

function startIfDue(found: FoundRun, claimant: Claimant, policy: Policy): Decision<ClaimVerdict> {
  const { run, now } = found;
  if (run.nextAttemptAt === undefined) return refuse('exhausted');
  if (run.nextAttemptAt > now) return refuse('not-due');
  const spent = whatIsSpent(found, policy);
  if (spent !== undefined) {
    const write: Run = { ...run, state: 'failed', reason: spent, nextAttemptAt: undefined };
    return { value: { kind: 'refused', reason: 'exhausted' }, write };
  }
  const { startDeadlineMs } = policy;
  // Of the first generation alone: what a person has made again is wanted, however late.
  const isFirst = run.attempt === 0 && run.generation === 0;
  if (isFirst && startDeadlinePassed(startDeadlineMs, { now, periodStart: run.periodStart })) {
    const write: Run = { ...run, state: 'skipped', reason: 'deadline', nextAttemptAt: undefined };
    return { value: { kind: 'refused', reason: 'deadline' }, write };
  }
  const write = started(found, claimant);
  return { value: { kind: 'claimed', claim: claimOf(write) }, write };
}

function replaceLost(found: FoundRun, claimant: Claimant, policy: Policy): Decision<ClaimVerdict> {
  const { run, now } = found;
  const events = [lostEventOf(run)];
  if (policy.onCrash === 'hold') {
    const write: Run = { ...run, state: 'interrupted', reason: 'crashed', finishedAt: now };
    return { value: { kind: 'refused', reason: 'interrupted', lost: run }, write, events };
  }
  if (whatIsSpent(found, policy) !== undefined) {
    const write: Run = {
      ...run,
      state: 'failed',
      reason: 'crashed',
      finishedAt: now,
      nextAttemptAt: undefined,
    };
    return { value: { kind: 'refused', reason: 'exhausted', lost: run }, write, events };
  }
  const write = started(found, claimant);
  return { value: { kind: 'claimed', claim: claimOf(write), lost: run }, write, events };
}

function whatIsSpent({ run, now }: FoundRun, { retry }: Policy): 'exhausted' | 'until' | undefined {
  if (run.attempt >= retry.maxAttempts) return 'exhausted';
  if (run.attempt === 0 || run.firstStartedAt === undefined) return undefined;
  const { firstStartedAt, periodEnd } = run;
  const until = retriesEndAt({ policy: retry, firstStartedAt, periodEnd });
  return until !== undefined && now >= until ? 'until' : undefined;
}

function started({ run, now }: FoundRun, { claimedBy, lockId, fencingToken, leaseMs }: Claimant): Run {
  return {
    ...run,
    ...{ claimedBy, lockId, fencingToken, leaseUntil: new Date(now.getTime() + leaseMs) },
    state: 'running',
    attempt: run.attempt + 1,
    firstStartedAt: run.attempt === 0 ? now : (run.firstStartedAt ?? run.startedAt),
    startedAt: now,
    finishedAt: undefined,
    nextAttemptAt: undefined,
    reason: undefined,
  };
}

function claimOf({ job, scope, periodKey, generation, attempt, claimedBy = '' }: Run): Claim {
  return { job, scope, periodKey, generation, attempt, claimedBy };
}

export function lostEventOf({ generation, attempt, claimedBy, fencingToken, startedAt }: Run): NewRunEvent {
  const detail = startedAt && `its holder vanished; it had begun at ${startedAt.toISOString()}`;
  return { generation, attempt, kind: 'lost', actor: claimedBy ?? 'unknown', fencingToken, detail };
}

function refuse(reason: ClaimRefusal): Decision<ClaimVerdict> {
  return { value: { kind: 'refused', reason } };
}
