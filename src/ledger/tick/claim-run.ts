import {
  LockLostError,
  LockStorageError,
  SchemaMismatchError,
  type Lock,
  type StatementOptions,
} from '../../core';
import { decideClaim, type Claimant, type ClaimVerdict } from './decide-claim';
import type { JobPolicy } from '../policy/job-policy';
import type { RunKey, RunPeriod } from '../run';
import type { Decision } from '../run-store';
import { limitOf, pauseAfter, type StoreContext } from '../store-statements';

export interface ClaimRequest extends RunKey, RunPeriod {
  readonly policy: JobPolicy;
  readonly lock: Lock;
  readonly lockId: string;
  readonly leaseMs: number;
  readonly claimedBy: string;
  readonly isHere?: Claimant['isHere'];
  /** A look before the lock found no row. */
  readonly isNew: boolean;
}

export type ClaimAnswer = Exclude<ClaimVerdict, { kind: 'absent' }>;

const MOST_TRIES = 6;

/**
 * Claims a run for the holder of the lock: inserts its row, or locks and changes the one that is there. Contention is
 * tried again; after an answer that was lost the row itself says whether the claim is ours.
 *
 * @throws LockStorageError if it is not known that the run was claimed
 * @throws LockLostError when the lease ended before it was
 */
export async function claimRun(context: StoreContext, request: ClaimRequest): Promise<ClaimAnswer> {
  const { policy, lock } = request;
  const claimant = claimantOf(request);
  let isNew = request.isNew;
  let mayBeOurs = false;
  for (let tries = 1; ; tries += 1) {
    lock.signal.throwIfAborted();
    try {
      if (isNew && (await insertRun(context, request, claimant))) {
        const { job, scope, periodKey } = request;
        const claim = { job, scope, periodKey, generation: 0, attempt: 1, claimedBy: claimant.claimedBy };
        return { kind: 'claimed', claim };
      }
      const verdict = await context.store.change(
        request,
        (found) => whileHeld(lock, decideClaim(found, claimant, policy)),
        limitWithin(context, lock),
      );
      if (verdict.kind !== 'absent') return verdict;
      isNew = true; // It was deleted meanwhile, or the insert has not arrived.
      if (tries >= MOST_TRIES)
        throw new LockStorageError(`The row of ${describeRun(request)} comes and goes.`);
    } catch (error) {
      if (!(error instanceof LockStorageError) || error instanceof SchemaMismatchError) throw error;
      mayBeOurs ||= error.outcome === 'unknown';
      const mayPass = mayBeOurs || error.outcome !== 'nothing-ran';
      if (!mayPass || tries >= MOST_TRIES) throw mayBeOurs ? unknownOutcome(error) : error;
      // The row is looked at before anything is inserted again.
      isNew = false;
      await pauseAfter(context, tries);
    }
  }
}

/** The last statement may not have run, but an earlier one may have. */
function unknownOutcome(error: LockStorageError): LockStorageError {
  if (error.outcome === 'unknown') return error;
  return new LockStorageError(error.message, {
    outcome: 'unknown',
    driverCode: error.driverCode,
    cause: error,
  });
}

function claimantOf({ claimedBy, isHere, lock, lockId, leaseMs }: ClaimRequest): Claimant {
  return { claimedBy, isHere, lockId, fencingToken: lock.fencingToken, leaseMs };
}

async function insertRun(
  context: StoreContext,
  { job, scope, periodKey, periodStart, periodEnd, timeZone, lock }: ClaimRequest,
  started: Claimant,
): Promise<boolean> {
  const run = { job, scope, periodKey, periodStart, periodEnd, timeZone };
  return await context.store.insert({ ...run, state: 'running', started }, limitWithin(context, lock));
}

/**
 * The claim may have waited longer than its lease lasts, and another holder of the lock may run. Under the lock on the
 * row, nobody can take the run over between this look and the write.
 *
 * @throws LockLostError when something would be written after the lease has ended
 */
function whileHeld<T>(lock: Lock, decision: Decision<T>): Decision<T> {
  if (decision.write !== undefined) heldForMs(lock);
  return decision;
}

/** Nobody needs the claim once the lease has ended. */
function limitWithin(context: StoreContext, lock: Lock): StatementOptions {
  return { timeoutMs: Math.min(limitOf(context).timeoutMs, heldForMs(lock)) };
}

function heldForMs(lock: Lock): number {
  const remainingMs = lock.remainingMs();
  if (remainingMs > 0) return remainingMs;
  lock.signal.throwIfAborted();
  throw new LockLostError(`The lease of lock '${lock.name}' ended before its run was claimed.`);
}

/** For messages. */
export function describeRun({ job, scope, periodKey }: RunKey): string {
  return `the run of job '${job}'${scope === '' ? '' : ` (${scope})`} for ${periodKey}`;
}
