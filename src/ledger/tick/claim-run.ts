import { createHash, randomUUID } from 'node:crypto';
import {
  LockLostError,
  LockStorageError,
  SchemaMismatchError,
  type Lock,
  type LockProvider,
  type StatementOptions,
} from '../../core';
import type { JobPolicy } from '../policy/job-policy';
import { describeRun, type RunKey, type RunPeriod } from '../run';
import type { Decision, FoundRun } from '../run-store';
import { limitOf, pauseAfter, untilAnswered, type StoreContext } from '../store-statements';
import { decideClaim, type Claimant, type ClaimVerdict } from './decide-claim';
import { decideOutcome } from './decide-outcome';

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

export type ClaimResult = Exclude<ClaimVerdict, { kind: 'absent' }>;

const MOST_TRIES = 6;

/**
 * Claims a run for the holder of the lock: inserts its row, or locks and changes the one that is there. Contention is
 * tried again; after an answer that was lost the row itself says whether the claim is ours.
 *
 * @throws LockStorageError if it is not known that the run was claimed
 * @throws LockLostError when the lease ended before it was
 */
export async function claimRun(context: StoreContext, request: ClaimRequest): Promise<ClaimResult> {
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

export interface UnclaimLimits {
  readonly forMs: number;
  readonly abandonedSignal: AbortSignal;
}

/**
 * After a claim that nobody knows the outcome of: the run has not begun, so no row may stand as running by it. A row that
 * does is given back. Where there is none yet, a pending one is inserted, which an insert that arrives late finds there.
 *
 * @throws LockStorageError when the store did not answer in that time: then the attempt counts as lost
 */
export async function unclaimRun(
  context: StoreContext,
  request: ClaimRequest,
  { forMs, abandonedSignal }: UnclaimLimits,
): Promise<void> {
  if (abandonedSignal.aborted) return;
  const { job, scope, periodKey, periodStart, periodEnd, timeZone, claimedBy } = request;
  const pending = { job, scope, periodKey, periodStart, periodEnd, timeZone, state: 'pending' } as const;
  const settle = async (): Promise<void> => {
    while (!(await context.store.change(request, (found) => giveBack(found, claimedBy), limitOf(context))))
      if (await context.store.insert(pending, limitOf(context))) return;
  };
  await untilAnswered(context, context.clock.monotonicMs() + forMs, settle, abandonedSignal);
}

/** @returns whether there is a row */
function giveBack(found: FoundRun | undefined, claimedBy: string): Decision<boolean> {
  if (found === undefined) return { value: false };
  const { job, scope, periodKey, generation, attempt } = found.run;
  const claim = { job, scope, periodKey, generation, attempt, claimedBy };
  const { write, events } = decideOutcome(found, claim, { kind: 'given-back' });
  return { value: true, write, events };
}

/** As wide as the column. */
const LONGEST = 128;
const KEPT = 63;

/** Of providers that do not say where their locks are. Each counts as a place of its own. */
const unnamedPlaces = new WeakMap<LockProvider, string>();

/** Which lock a run was started under: two attempts under the same one cannot both hold it. */
export function lockIdOf(provider: LockProvider, lockName: string): string {
  const id = `${provider.id ?? unnamedPlaceOf(provider)}/${lockName}`;
  const characters = Array.from(id);
  if (characters.length <= LONGEST) return id;
  return `${characters.slice(0, KEPT).join('')}#${createHash('sha256').update(id).digest('hex')}`;
}

function unnamedPlaceOf(provider: LockProvider): string {
  const place = unnamedPlaces.get(provider) ?? randomUUID();
  unnamedPlaces.set(provider, place);
  return place;
}
