import type { LockEvent, RunIdentity } from '../../core';
import { newOwner } from '../../core/lease/owner';
import type { ActiveRun } from '../../core/execution/run-registry';
import { identityOf, type Claim, type Run } from '../run';
import type { Decision, FoundRun } from '../run-store';
import { lostEventOf } from '../tick/decide-claim';
import { isOurs } from '../tick/decide-outcome';

/** The lock id in the rows of slots, which take no lock. */
export const SLOT_LOCK_ID = 'node-cron';

/** A scheduled time of a job that the scheduler starts on one of its instances. */
export interface Slot {
  readonly job: string;
  readonly at: Date;
}

/** A slot for which this instance was elected, or may have been, until its outcome is recorded. */
export interface OpenSlot {
  readonly slot: Slot;
  readonly claim: Claim;
  /** A closing guard waits for it. */
  readonly active: ActiveRun;
  beganAtMs: number;
  failure?: { readonly error: unknown };
  /** The outcome is known and is being recorded. */
  hasEnded: boolean;
}

export function isSlot({ lockId }: Pick<Run, 'lockId'>): boolean {
  return lockId === SLOT_LOCK_ID;
}

export function slotKeyOf({ job, at }: Slot): string {
  return `${job}:${at.toISOString()}`;
}

export function newSlotClaim({ job, at }: Slot, instance: string): Claim {
  const claimedBy = newOwner(instance);
  return { job, scope: '', periodKey: at.toISOString(), generation: 0, attempt: 1, claimedBy };
}

export function slotEventOf({ job, at }: Slot): LockEvent {
  return { name: job, job, scheduledAt: at };
}

export function slotRunEventOf({ slot, claim }: OpenSlot): LockEvent & { run: RunIdentity } {
  return { ...slotEventOf(slot), run: identityOf(claim) };
}

/** Why a claimed run did not begin. No other instance begins it, because its slot is taken. */
export interface Cancellation {
  readonly reason: 'unconfirmed' | 'stopped' | 'closing';
  /** The explanation that the row keeps. */
  readonly error: string;
}

/** A claimed run that will not begin must not stay `running`. Pure: `RunStore.change` calls it and writes the result. */
export function decideCancellation(
  found: FoundRun | undefined,
  claim: Claim,
  { reason, error }: Cancellation,
): Decision<'recorded' | 'not-ours'> {
  if (found === undefined || !isOurs(found.run, claim)) return { value: 'not-ours' };
  const { run, now } = found;
  if (run.state !== 'running') return { value: run.reason === reason ? 'recorded' : 'not-ours' };
  const { generation, attempt, claimedBy: actor } = claim;
  return {
    value: 'recorded',
    write: { ...run, state: 'failed', reason, error, finishedAt: now, nextAttemptAt: undefined },
    events: [{ generation, attempt, kind: 'failed', actor, fencingToken: undefined, detail: error }],
  };
}

/** The lease of a running slot has expired. An operator must find out what the run did. */
export function decideExpired(
  found: FoundRun | undefined,
  claimedBy: string | undefined,
): Decision<Run | undefined> {
  if (found === undefined || !isExpired(found.run, found.now) || found.run.claimedBy !== claimedBy)
    return { value: undefined };
  const { run, now } = found;
  const write: Run = { ...run, state: 'interrupted', reason: 'crashed', finishedAt: now };
  return { value: run, write, events: [lostEventOf(run)] };
}

export function isExpired({ state, leaseUntil }: Pick<Run, 'state' | 'leaseUntil'>, now: Date): boolean {
  return state === 'running' && leaseUntil !== undefined && leaseUntil <= now;
}
