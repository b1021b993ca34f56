import { ClaimLostError, type StatementOptions } from '../../core';
import { retryUntilAnswered, type LedgerContext, type StoreContext } from '../store-statements';
import { describeRun, type Claim, type Run, type RunKey } from '../run';
import type { FoundRun } from '../run-store';
import { decideOutcome, type Outcome, type OutcomeVerdict } from './decide-outcome';
import { storedResult } from './stored-text';

/** The work is done, so a store that is down is worth waiting for, but not forever. */
const RECORD_AT_LEAST_FOR_MS = 60_000;

/** How long the recording of an outcome is retried while the store does not answer. */
export interface RecordingLimits {
  readonly remainingMs: number;
  /** If so, the store may be closed and gets no further statement. Asked after a failure. */
  readonly isAbandoned?: () => boolean;
}

/**
 * Records the outcome of an attempt once. Retries while the attempt's lease lasts, and for at least a minute.
 *
 * @throws LockStorageError if the store did not answer in all that time
 */
export async function recordOutcome(
  context: StoreContext,
  claim: Claim,
  outcome: Outcome,
  { remainingMs, isAbandoned }: RecordingLimits,
): Promise<OutcomeVerdict> {
  let isFirst = true;
  const record = async (options: StatementOptions): Promise<OutcomeVerdict> => {
    // The usual case takes one statement. Every other case needs the row.
    if (outcome.kind === 'completed' && isFirst) {
      isFirst = false;
      if (await context.store.complete(claim, outcome.result, options)) return { kind: 'completed' };
    }
    return await context.store.change(claim, (found) => decideOutcome(found, claim, outcome), options);
  };
  return await retryUntilAnswered(context, giveUpAtMs(context, remainingMs), record, isAbandoned);
}

/**
 * Whether a transaction that has ended has completed the run. Waits for other writers of the row.
 *
 * @throws LockStorageError if the store did not answer for as long as `recordOutcome` would retry
 */
export async function isCompletedBy(
  context: StoreContext,
  claim: Claim,
  { remainingMs, isAbandoned }: RecordingLimits,
): Promise<boolean> {
  const isOurs = (found: FoundRun | undefined): boolean =>
    found !== undefined && found.run.state === 'completed' && found.run.claimedBy === claim.claimedBy;
  const ask = (options: StatementOptions): Promise<boolean> =>
    context.store.change(claim, (found) => ({ value: isOurs(found) }), options);
  return await retryUntilAnswered(context, giveUpAtMs(context, remainingMs), ask, isAbandoned);
}

function giveUpAtMs({ clock }: StoreContext, remainingMs: number): number {
  return clock.monotonicMs() + Math.max(RECORD_AT_LEAST_FOR_MS, remainingMs);
}

export function claimLostError(
  claim: Claim,
  current: Run | undefined,
  options?: ErrorOptions,
): ClaimLostError {
  const now =
    current === undefined
      ? 'its row is gone'
      : `its row is ${current.state}, generation ${current.generation}, attempt ${current.attempt}`;
  return new ClaimLostError(
    `Attempt ${claim.attempt} of ${describeRun(claim)} no longer counts: ${now}. Effects outside inRunTransaction() may happen twice.`,
    options,
  );
}

/** Serializes a run's result. If that fails, nothing is stored and a warning is emitted. */
export function serializeResult(
  { events }: Pick<LedgerContext, 'events'>,
  run: RunKey,
  value: unknown,
): string | undefined {
  const stored = storedResult(value);
  if ('text' in stored) return stored.text;
  const message = `The result of ${describeRun(run)} cannot be serialized as JSON, so it was not stored.`;
  events.emit('guard:warning', { message, error: stored.cannot });
  return undefined;
}
