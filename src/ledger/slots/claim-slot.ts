/**
 * slots/: the runs of schedulers that elect one instance for each scheduled time, such as node-cron's distributed tasks.
 *
 * Such a scheduled time is a slot. The instance that inserts the slot's row is elected, and the row stays: a slot has one
 * attempt, and nobody retries it. No lock is involved. If the instance crashes, the next elected one marks the run as
 * interrupted after its lease.
 */
import { LockStorageError, SchemaMismatchError, type StatementOptions } from '../../core';
import { pause } from '../../core/clock';
import type { Claim } from '../run';
import type { StoreContext } from '../store-statements';

/** One instant of a schedule, which one instance is to be elected for. */
export interface SlotRequest {
  readonly claim: Claim;
  /** How long a run is not taken for lost. */
  readonly leaseMs: number;
  /** The answer comes within this time, whatever the store does. */
  readonly withinMs: number;
}

export type SlotAnswer =
  | { readonly kind: 'elected' }
  /** The row of the slot is somebody's, whatever became of it since. */
  | { readonly kind: 'taken' }
  /** `mayBeOurs`: a statement is on its way, or has been carried out, that makes the row ours. */
  | { readonly kind: 'unknown'; readonly error: unknown; readonly mayBeOurs: boolean };

/** Slots are under no lock: whoever inserts the row has the slot for good. */
export const SLOT_LOCK_ID = 'node-cron';

/** Less time than this is not worth another statement. */
const SHORTEST_MS = 50;

/**
 * Inserts the row of a slot, which nobody ever removes: who comes later, however late, finds it. After a reply that was
 * lost the row itself says whether it is ours. Whatever may pass is tried again until the time is over.
 */
export async function claimSlot(context: StoreContext, request: SlotRequest): Promise<SlotAnswer> {
  const { claim, withinMs } = request;
  const endsAtMs = context.clock.monotonicMs() + withinMs;
  const remainingMs = (): number => endsAtMs - context.clock.monotonicMs();
  let mayBeOurs = false;
  let next: 'insert' | 'look' = 'insert';
  let error: unknown = new LockStorageError(`The row of ${claim.periodKey} comes and goes.`);
  for (let tries = 1; remainingMs() > SHORTEST_MS; tries += 1) {
    // Half of what is left: a reply that does not come leaves time for a look.
    const options = { timeoutMs: Math.min(context.statementTimeoutMs, remainingMs() / 2) };
    try {
      if (next === 'look') {
        const holder = await holderOf(context, claim, options);
        if (holder !== undefined) return { kind: holder === claim.claimedBy ? 'elected' : 'taken' };
        next = 'insert'; // It has not arrived. If it still does, it is this very claim.
      } else if (await insertSlot(context, request, options)) return { kind: 'elected' };
      else if (mayBeOurs) next = 'look';
      else return { kind: 'taken' };
    } catch (failure) {
      error = failure;
      if (!(failure instanceof LockStorageError) || failure instanceof SchemaMismatchError) break;
      if (failure.outcome === 'unknown') {
        mayBeOurs = true;
        next = 'look';
      }
      await pause(context.clock, Math.min(remainingMs() / 4, 10 * 2 ** tries) * (0.5 + context.random()));
    }
  }
  return { kind: 'unknown', error, mayBeOurs };
}

async function insertSlot(
  { store }: StoreContext,
  { claim, leaseMs }: SlotRequest,
  options: StatementOptions,
): Promise<boolean> {
  const { job, scope, periodKey, claimedBy } = claim;
  const started = { claimedBy, lockId: SLOT_LOCK_ID, fencingToken: undefined, leaseMs };
  // A slot has no length. Without a beginning it is, like a custom key, nothing that a job has gaps by.
  const period = { periodStart: undefined, periodEnd: undefined, timeZone: undefined };
  return await store.insert({ job, scope, periodKey, ...period, state: 'running', started }, options);
}

/** Waits for whoever writes the row: what was sent before has then arrived. */
async function holderOf(
  { store }: StoreContext,
  claim: Claim,
  options: StatementOptions,
): Promise<string | undefined> {
  return await store.change(claim, (found) => ({ value: found && (found.run.claimedBy ?? '') }), options);
}
