import { LockStorageError, SchemaMismatchError, type StatementOptions } from '../../core';
import { pause, statementRetryDelayMs } from '../../core/clock';
import { describeRun, type Claim } from '../run';
import type { LedgerContext } from '../store-statements';
import { SLOT_LOCK_ID } from './slot';

export type SlotResult =
  | { readonly kind: 'elected' }
  /** Another instance has inserted the slot's row, regardless of its state now. */
  | { readonly kind: 'taken' }
  /** `mayBeOurs`: a statement that would make the row ours was sent. It may have taken effect, or still do so. */
  | { readonly kind: 'unknown'; readonly error: unknown; readonly mayBeOurs: boolean };

/** A forked node-cron task waits 5 s for an answer. */
export const ANSWER_WITHIN_MS = 4000;
/** With less time left, no further statement is sent. */
const SHORTEST_MS = 50;

/**
 * Inserts the row of a slot. The row stays, so that every later instance finds it. After a lost reply, the row itself
 * shows whether it is ours. Transient failures are retried. The answer comes within 4 s, even if the store hangs.
 *
 * @param leaseMs after this time, a run without an outcome counts as lost
 */
export async function claimSlot(context: LedgerContext, claim: Claim, leaseMs: number): Promise<SlotResult> {
  const endsAtMs = context.clock.monotonicMs() + ANSWER_WITHIN_MS;
  const remainingMs = (): number => endsAtMs - context.clock.monotonicMs();
  let mayBeOurs = false;
  let next: 'insert' | 'read' = 'insert';
  let error: unknown = new LockStorageError(
    `Could not claim ${describeRun(claim)}: another process keeps creating and deleting its row.`,
  );
  for (let tries = 1; remainingMs() > SHORTEST_MS; tries += 1) {
    // Half of the time left, so that after a lost reply there is time to read the row.
    const options = { timeoutMs: Math.min(context.statementTimeoutMs, remainingMs() / 2) };
    try {
      if (next === 'read') {
        const holder = await readClaimedBy(context, claim, options);
        if (holder !== undefined) return { kind: holder === claim.claimedBy ? 'elected' : 'taken' };
        next = 'insert'; // The insert has not arrived. If it still does, it inserts this same claim.
      } else if (await insertSlot(context, claim, leaseMs, options)) return { kind: 'elected' };
      else if (mayBeOurs) next = 'read';
      else return { kind: 'taken' };
    } catch (failure) {
      error = failure;
      if (!(failure instanceof LockStorageError) || failure instanceof SchemaMismatchError) break;
      if (failure.outcome === 'unknown') {
        mayBeOurs = true;
        next = 'read';
      }
      await pause(context.clock, statementRetryDelayMs(context, tries, remainingMs() / 4));
    }
  }
  return { kind: 'unknown', error, mayBeOurs };
}

async function insertSlot(
  { store }: LedgerContext,
  claim: Claim,
  leaseMs: number,
  options: StatementOptions,
): Promise<boolean> {
  const { job, scope, periodKey, claimedBy } = claim;
  const started = { claimedBy, lockId: SLOT_LOCK_ID, fencingToken: undefined, leaseMs };
  // Without a start, like a custom key, a slot is never a gap of a job.
  const period = { periodStart: undefined, periodEnd: undefined, timeZone: undefined };
  return await store.insert({ job, scope, periodKey, ...period, state: 'running', started }, options);
}

/** A locking read: it waits for the row's writers, so that statements sent before have arrived. */
async function readClaimedBy(
  { store }: LedgerContext,
  claim: Claim,
  options: StatementOptions,
): Promise<string | undefined> {
  return await store.change(claim, (found) => ({ value: found && (found.run.claimedBy ?? '') }), options);
}
