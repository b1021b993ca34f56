import { ClaimLostError, type StatementOptions } from '../../core';
import { LONGEST_WAIT_FOR_RELEASE_MS } from '../../core/execution/locking-task-executor';
import { pauseAfter, retryUntilAnswered, type LedgerContext } from '../store-statements';
import { describeRun, type Claim, type Run, type RunKey } from '../run';
import { decideOutcome, precedes, type Outcome, type OutcomeVerdict } from './decide-outcome';
import { storedResult } from './stored-text';

/** The work is done, so a store that is down is worth waiting for, but not forever. */
const RECORD_AT_LEAST_FOR_MS = 60_000;

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
  context: LedgerContext,
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

/** Whether the row contradicts the claim of a live lease: it is missing, or older than the claim. */
export function isContradicted(verdict: OutcomeVerdict, claim: Claim): boolean {
  return verdict.kind === 'lost' && precedes(verdict.run, claim);
}

/** Records a contradicted outcome again, until a row at least as new as the claim decides, or the lease has ended. */
export async function recordAgain(
  context: LedgerContext,
  claim: Claim,
  outcome: Outcome,
  { remainingMs, isAbandoned = () => false }: RecordingLimits,
): Promise<OutcomeVerdict> {
  const untilMs = context.clock.monotonicMs() + remainingMs;
  for (let attempt = 0; ; attempt += 1) {
    await pauseAfter(context, attempt);
    const verdict = await recordOutcome(context, claim, outcome, { remainingMs, isAbandoned });
    const isOver = isAbandoned() || context.clock.monotonicMs() >= untilMs;
    if (isOver || !isContradicted(verdict, claim)) return verdict;
  }
}

/**
 * Whether a transaction that has ended has completed the run. Waits for other writers of the row. If the row is missing or
 * older than the claim, reads it again during the lease, for 10 s at most.
 *
 * @throws LockStorageError if the store did not answer for as long as `recordOutcome` would retry
 */
export async function isCompletedBy(
  context: LedgerContext,
  claim: Claim,
  { remainingMs, isAbandoned }: RecordingLimits,
): Promise<boolean> {
  const read = (options: StatementOptions): Promise<Run | undefined> =>
    context.store.change(claim, (found) => ({ value: found?.run }), options);
  const untilMs = context.clock.monotonicMs() + Math.min(remainingMs, LONGEST_WAIT_FOR_RELEASE_MS);
  for (let attempt = 0; ; attempt += 1) {
    const run = await retryUntilAnswered(context, giveUpAtMs(context, remainingMs), read, isAbandoned);
    const isOver = isAbandoned?.() === true || context.clock.monotonicMs() >= untilMs;
    if (isOver || !precedes(run, claim))
      return run?.state === 'completed' && run.claimedBy === claim.claimedBy;
    await pauseAfter(context, attempt);
  }
}

function giveUpAtMs({ clock }: LedgerContext, remainingMs: number): number {
  return clock.monotonicMs() + Math.max(RECORD_AT_LEAST_FOR_MS, remainingMs);
}

/** @param run the current content of its row */
export function claimLostError(claim: Claim, run: Run | undefined, options?: ErrorOptions): ClaimLostError {
  const row =
    run === undefined
      ? 'the store has no row of it'
      : `its row is ${run.state}, generation ${run.generation}, attempt ${run.attempt}`;
  const what = `Attempt ${claim.attempt} of ${describeRun(claim)}`;
  const why = precedes(run, claim)
    ? `${what} could not be recorded: ${row}, so the row was deleted or set back, or a server that lags behind has answered. On a cluster, connect all instances to the same server.`
    : `${what} no longer counts: ${row}.`;
  return new ClaimLostError(`${why} Effects outside inRunTransaction() may happen twice.`, options);
}

/** Serializes a run's result. If that fails, nothing is stored and a warning is emitted. */
export function serializeResult(context: LedgerContext, run: RunKey, value: unknown): string | undefined {
  try {
    return storedResult(value);
  } catch (error) {
    const message = `The result of ${describeRun(run)} cannot be serialized as JSON, so it was not stored.`;
    context.events.warn(message, error);
    return undefined;
  }
}
