import type { LockEvent, RunIdentity } from '../core';
import { newOwner } from '../core/lease/owner';
import type { ActiveRun } from '../core/execution/run-registry';
import { identityOf, type Claim } from '../ledger/run';

/** An instant at which a scheduler starts a job, on one of its instances. */
export interface Slot {
  readonly job: string;
  readonly at: Date;
}

/** A slot that this instance was elected for, or may have been, until its end is recorded. */
export interface OpenSlot {
  readonly slot: Slot;
  readonly claim: Claim;
  /** What a guard that closes waits for. */
  readonly active: ActiveRun;
  beganAtMs: number;
  /** Its end is known, and is being recorded. */
  isOver: boolean;
}

export function keyOf({ job, at }: Slot): string {
  return `${job}:${at.toISOString()}`;
}

export function newClaim({ job, at }: Slot): Claim {
  return { job, scope: '', periodKey: at.toISOString(), generation: 0, attempt: 1, claimedBy: newOwner() };
}

export function eventOf({ job, at }: Slot): LockEvent {
  return { name: job, scheduledAt: at };
}

export function runEventOf({ slot, claim }: OpenSlot): LockEvent & { run: RunIdentity } {
  return { ...eventOf(slot), run: identityOf(claim) };
}
