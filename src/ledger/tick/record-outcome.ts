import { ClaimLostError, type StatementOptions } from '../../core';
import { untilAnswered, type LedgerContext, type StoreContext } from '../store-statements';
import { describeRun, type Claim, type Run, type RunKey } from '../run';
import type { FoundRun } from '../run-store';
import { decideOutcome, type Outcome, type OutcomeVerdict } from './decide-outcome';
import { storedResult } from './stored-text';

/** The work is done: that is worth waiting for a store that is away, though not for ever. */
const LEAST_PATIENCE_MS = 60_000;

/** How long an outcome is sent to a store that does not answer. */
export interface Patience {
  readonly remainingMs: number;
  /** Once it has aborted, the store may be closed and gets no further statement. */
  readonly abandonedSignal?: AbortSignal;
}

/**
 * Writes down what became of an attempt, once, however often the store has to be asked: as long as its lease lasts, and
 * for a minute at least.
 *
 * @throws LockStorageError when the store did not answer in all that time
 */
export async function recordOutcome(
  context: StoreContext,
  claim: Claim,
  outcome: Outcome,
  { remainingMs, abandonedSignal }: Patience,
): Promise<OutcomeVerdict> {
  let isFirst = true;
  const record = async (options: StatementOptions): Promise<OutcomeVerdict> => {
    // The usual case is one statement. Whatever else there is to know needs a look at the row.
    if (outcome.kind === 'completed' && isFirst) {
      isFirst = false;
      if (await context.store.complete(claim, outcome.result, options)) return { kind: 'completed' };
    }
    return await context.store.change(claim, (found) => decideOutcome(found, claim, outcome), options);
  };
  return await untilAnswered(context, giveUpAtMs(context, remainingMs), record, abandonedSignal);
}

/**
 * Whether a transaction that is over, one way or the other, has completed the run. Waits for whoever writes the row.
 *
 * @throws LockStorageError when the store did not answer for as long as `recordOutcome` would ask
 */
export async function isCompletedBy(
  context: StoreContext,
  claim: Claim,
  { remainingMs, abandonedSignal }: Patience,
): Promise<boolean> {
  const isOurs = (found: FoundRun | undefined): boolean =>
    found !== undefined && found.run.state === 'completed' && found.run.claimedBy === claim.claimedBy;
  const ask = (options: StatementOptions): Promise<boolean> =>
    context.store.change(claim, (found) => ({ value: isOurs(found) }), options);
  return await untilAnswered(context, giveUpAtMs(context, remainingMs), ask, abandonedSignal);
}

function giveUpAtMs({ clock }: StoreContext, remainingMs: number): number {
  return clock.monotonicMs() + Math.max(LEAST_PATIENCE_MS, remainingMs);
}

export function claimLost(claim: Claim, stands: Run | undefined, options?: ErrorOptions): ClaimLostError {
  const now =
    stands === undefined
      ? 'its row is gone'
      : `it stands as ${stands.state}, generation ${stands.generation}, attempt ${stands.attempt}`;
  return new ClaimLostError(
    `Attempt ${claim.attempt} of ${describeRun(claim)} does not count any more: ${now}. If its effects were not in inRunTransaction(), they may be made twice.`,
    options,
  );
}

/** What is kept of a run's result. Where it cannot be, nothing is, and that is told. */
export function keptResult(
  { events }: Pick<LedgerContext, 'events'>,
  run: RunKey,
  value: unknown,
): string | undefined {
  const stored = storedResult(value);
  if ('text' in stored) return stored.text;
  const message = `The result of ${describeRun(run)} is no JSON, and is not kept.`;
  events.emit('guard:warning', { message, error: stored.cannot });
  return undefined;
}
