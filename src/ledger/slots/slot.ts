import type { LockEvent, RunIdentity } from '../../core';
import { newOwner } from '../../core/lease/owner';
import type { ActiveRun } from '../../core/execution/run-registry';
import { identityOf, type Claim, type Run } from '../run';

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
  /** What its handler has thrown. */
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

export function newSlotClaim({ job, at }: Slot): Claim {
  return { job, scope: '', periodKey: at.toISOString(), generation: 0, attempt: 1, claimedBy: newOwner() };
}

export function slotEventOf({ job, at }: Slot): LockEvent {
  return { name: job, job, scheduledAt: at };
}

export function slotRunEventOf({ slot, claim }: OpenSlot): LockEvent & { run: RunIdentity } {
  return { ...slotEventOf(slot), run: identityOf(claim) };
}
