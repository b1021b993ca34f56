import { createHash, randomUUID } from 'node:crypto';
import {
  LockLostError,
  LockStorageError,
  SchemaMismatchError,
  type Lock,
  type LockProvider,
  type StatementOptions,
} from '../../core';
import { isAborted } from '../../core/execution/run-registry';
import { unknownOutcome } from '../../core/lease/statements';
import type { JobPolicy } from '../policy/job-policy';
import { describeRun, type RunKey, type RunPeriod } from '../run';
import type { Decision, FoundRun } from '../run-store';
import { limitOf, pauseAfter, retryUntilAnswered, type StoreContext } from '../store-statements';
import { decideClaim, type ClaimHolder, type ClaimVerdict } from './decide-claim';
import { decideOutcome } from './decide-outcome';

export interface ClaimRequest extends RunKey, RunPeriod {
  readonly policy: JobPolicy;
  readonly lock: Lock;
  readonly lockId: string;
  readonly leaseMs: number;
  readonly claimedBy: string;
  readonly isRunningHere?: ClaimHolder['isRunningHere'];
  readonly scheduledAt?: ClaimHolder['scheduledAt'];
  /** The snapshot, read before the lock, found no row. */
  readonly isNew: boolean;
}

export type ClaimResult = Exclude<ClaimVerdict, { kind: 'absent' }>;

const MOST_TRIES = 6;

/**
 * Claims a run for the holder of the lock: inserts its row, or locks and changes the existing one. Contention is
 * retried. After a lost reply, the row itself shows whether the claim is ours.
 *
 * @throws LockStorageError if it is not certain that the run was claimed
 * @throws LockLostError if the lease ended before the run was claimed
 */
export async function claimRun(context: StoreContext, request: ClaimRequest): Promise<ClaimResult> {
  const { policy, lock } = request;
  const holder = holderOf(request);
  let isNew = request.isNew;
  let mayBeOurs = false;
  for (let tries = 1; ; tries += 1) {
    if (isAborted(lock)) lock.signal.throwIfAborted();
    try {
      if (isNew && (await insertRun(context, request, holder))) {
        const { job, scope, periodKey } = request;
        const claim = { job, scope, periodKey, generation: 0, attempt: 1, claimedBy: holder.claimedBy };
        return { kind: 'claimed', claim };
      }
      const verdict = await context.store.change(
        request,
        (found) => refuseAfterLease(lock, decideClaim(found, holder, policy)),
        limitWithin(context, lock),
      );
      if (verdict.kind !== 'absent') return verdict;
      isNew = true; // The row was deleted meanwhile, or the insert has not arrived.
      if (tries >= MOST_TRIES)
        throw new LockStorageError(
          `Could not claim ${describeRun(request)}: another process keeps creating and deleting its row.`,
        );
    } catch (error) {
      if (!(error instanceof LockStorageError) || error instanceof SchemaMismatchError) throw error;
      mayBeOurs ||= error.outcome === 'unknown';
      const isTransient = mayBeOurs || error.outcome !== 'nothing-ran';
      if (!isTransient || tries >= MOST_TRIES) throw mayBeOurs ? unknownOutcome(error) : error;
      // Reads the row before another insert.
      isNew = false;
      await pauseAfter(context, tries);
    }
  }
}

function holderOf(request: ClaimRequest): ClaimHolder {
  const { claimedBy, isRunningHere, lock, lockId, leaseMs, scheduledAt } = request;
  return { claimedBy, isRunningHere, lockId, fencingToken: lock.fencingToken, leaseMs, scheduledAt };
}

async function insertRun(
  context: StoreContext,
  { job, scope, periodKey, periodStart, periodEnd, timeZone, lock }: ClaimRequest,
  started: ClaimHolder,
): Promise<boolean> {
  const state = 'running';
  const run = { job, scope, periodKey, periodStart, periodEnd, timeZone, state, started } as const;
  return await context.store.insert(run, limitWithin(context, lock));
}

/**
 * The claim may have waited longer than its lease lasts, and another holder of the lock may be running. While the row
 * is locked, no other process can take the run over between this check and the write.
 *
 * @throws LockLostError if the decision would be written after the lease has ended
 */
function refuseAfterLease<T>(lock: Lock, decision: Decision<T>): Decision<T> {
  if (decision.write !== undefined) remainingLeaseMs(lock);
  return decision;
}

/** The claim is useless once the lease has ended. */
function limitWithin(context: StoreContext, lock: Lock): StatementOptions {
  return { timeoutMs: Math.min(limitOf(context).timeoutMs, remainingLeaseMs(lock)) };
}

function remainingLeaseMs(lock: Lock): number {
  const remainingMs = lock.remainingMs();
  if (remainingMs > 0) return remainingMs;
  lock.signal.throwIfAborted();
  throw new LockLostError(`The lease of lock '${lock.name}' ended before its run was claimed.`);
}

export interface UnclaimLimits {
  readonly forMs: number;
  readonly isAbandoned: () => boolean;
}

/**
 * Undoes a claim with an unknown outcome. The run has not started, so no row may stay running under this claim. A row
 * that does is given back. If there is no row yet, a pending one is inserted, which a late insert of the claim then
 * finds.
 *
 * @throws LockStorageError if the store did not answer in that time: then the attempt counts as lost
 */
export async function unclaimRun(
  context: StoreContext,
  request: ClaimRequest,
  { forMs, isAbandoned }: UnclaimLimits,
): Promise<void> {
  if (isAbandoned()) return;
  const { job, scope, periodKey, periodStart, periodEnd, timeZone, claimedBy } = request;
  const pending = { job, scope, periodKey, periodStart, periodEnd, timeZone, state: 'pending' } as const;
  const settle = async (): Promise<void> => {
    while (
      !(await context.store.change(request, (found) => decideGiveBack(found, claimedBy), limitOf(context)))
    )
      if (await context.store.insert(pending, limitOf(context))) return;
  };
  await retryUntilAnswered(context, context.clock.monotonicMs() + forMs, settle, isAbandoned);
}

/** @returns whether there is a row */
function decideGiveBack(found: FoundRun | undefined, claimedBy: string): Decision<boolean> {
  if (found === undefined) return { value: false };
  const { job, scope, periodKey, generation, attempt } = found.run;
  const claim = { job, scope, periodKey, generation, attempt, claimedBy };
  const { write, events } = decideOutcome(found, claim, { kind: 'given-back' });
  return { value: true, write, events };
}

/** The width of the column. */
const LONGEST = 128;
const KEPT = 63;

/** Random places for providers without an id. Each counts as a place of its own. */
const unnamedPlaces = new WeakMap<LockProvider, string>();

/** Identifies the lock under which a run was started. Two attempts under the same lock cannot both hold it. */
export function lockIdOf(provider: LockProvider, lockName: string): string {
  const id = `${provider.id ?? unnamedPlaceOf(provider)}/${lockName}`;
  if (id.length <= LONGEST) return id;
  const characters = Array.from(id);
  if (characters.length <= LONGEST) return id;
  return `${characters.slice(0, KEPT).join('')}#${createHash('sha256').update(id).digest('hex')}`;
}

function unnamedPlaceOf(provider: LockProvider): string {
  const place = unnamedPlaces.get(provider) ?? randomUUID();
  unnamedPlaces.set(provider, place);
  return place;
}
