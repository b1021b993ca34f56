import { CronlatchError, type TickEvent } from '../../core';
import { describeRun, type Run } from '../run';
import { limitOf, retryUntilAnswered, type LedgerContext } from '../store-statements';
import type { Outcome } from '../tick/decide-outcome';
import { claimLostError, serializeResult, recordOutcome } from '../tick/record-outcome';
import { storedError } from '../tick/stored-text';
import {
  decideCancellation,
  decideExpired,
  isExpired,
  isSlot,
  slotRunEventOf,
  type Cancellation,
  type OpenSlot,
} from './slot';

/**
 * How long the recording of an outcome is retried while the store does not answer. A closed guard stops at once. If
 * the outcome never reaches the store, the run counts as interrupted after its lease.
 */
const RECORD_FOR_MS = 600_000;
const NO_RETRY = { maxAttempts: 1, initialDelayMs: 0, factor: 1, maxDelayMs: 0, untilMs: undefined };

export type SlotEnd = Omit<TickEvent, 'name' | 'scheduledAt'>;

/** Records the outcomes of slots, then emits their events. Nothing here rejects: a failure becomes a warning. */
export class SlotOutcomes {
  constructor(private readonly context: LedgerContext) {}

  async recordCompleted(open: OpenSlot, value: unknown): Promise<SlotEnd> {
    const { events, clock } = this.context;
    const durationMs = Math.round(clock.monotonicMs() - open.beganAtMs);
    const result = serializeResult(this.context, open.claim, value);
    const { error } = await this.#record(open, { kind: 'completed', result });
    const { run } = slotRunEventOf(open);
    if (error !== undefined) return { outcome: 'failed', run, durationMs, error };
    events.emit('run:completed', { ...slotRunEventOf(open), durationMs });
    return { outcome: 'completed', run, durationMs };
  }

  /** A slot fails permanently: no scheduler retries one. */
  async recordFailed(open: OpenSlot, error: unknown): Promise<SlotEnd> {
    const { events, clock } = this.context;
    const durationMs = Math.round(clock.monotonicMs() - open.beganAtMs);
    await this.#record(open, { kind: 'failed', error, errorText: storedError(error), retry: NO_RETRY });
    events.emit('run:failed', { ...slotRunEventOf(open), error, durationMs });
    return { outcome: 'failed', run: slotRunEventOf(open).run, durationMs, error };
  }

  /** Changes nothing if the row is missing or belongs to another instance. */
  async recordCancellation(open: OpenSlot, why: Cancellation): Promise<SlotEnd> {
    await this.#recordCancellation(open, why);
    const { run } = slotRunEventOf(open);
    if (why.reason === 'closing') return { outcome: 'skipped', run, reason: why.reason };
    return { outcome: 'lock-failed', run, error: new CronlatchError(why.error) };
  }

  async #recordCancellation({ claim, active }: OpenSlot, why: Cancellation): Promise<void> {
    const { store, clock } = this.context;
    try {
      const verdict = await retryUntilAnswered(
        this.context,
        clock.monotonicMs() + RECORD_FOR_MS,
        (options) => store.change(claim, (found) => decideCancellation(found, claim, why), options),
        () => active.isAbandoned,
      );
      if (verdict === 'not-ours') return;
      this.#warn(
        `This instance claimed ${describeRun(claim)}, which is now recorded as failed (${why.reason}). ${why.error}`,
      );
    } catch (error) {
      this.#warn(
        `Could not record that this instance claimed ${describeRun(claim)} but did not start it.`,
        error,
      );
    }
  }

  /** @returns the error if the outcome could not be recorded */
  async #record({ claim, active }: OpenSlot, outcome: Outcome): Promise<{ error?: unknown }> {
    const limits = { remainingMs: RECORD_FOR_MS, isAbandoned: () => active.isAbandoned };
    try {
      const verdict = await recordOutcome(this.context, claim, outcome, limits);
      if (verdict.kind === 'lost') throw claimLostError(claim, verdict.run);
      return {};
    } catch (error) {
      this.#warn(`Could not record the outcome of ${describeRun(claim)}.`, error);
      return { error };
    }
  }

  #warn(message: string, error?: unknown): void {
    this.context.events.emit('guard:warning', error === undefined ? { message } : { message, error });
  }
}

/**
 * Marks a job's running slots as interrupted if their leases have expired. They are not retried.
 *
 * @param isRunningHere whether a claim belongs to this process, which still works on it even after its lease
 * @returns the runs as they were before
 */
export async function interruptExpiredSlots(
  context: LedgerContext,
  job: string,
  isRunningHere: (claimedBy: string | undefined) => boolean,
): Promise<readonly Run[]> {
  const { store } = context;
  const request = { job, scope: '', periodKey: undefined, since: undefined };
  const { now, runs } = await store.peek(request, limitOf(context));
  const expired = runs.filter((run) => isSlot(run) && isExpired(run, now) && !isRunningHere(run.claimedBy));
  const interrupted: Run[] = [];
  for (const { claimedBy, ...key } of expired) {
    const run = await store.change(key, (found) => decideExpired(found, claimedBy), limitOf(context));
    if (run !== undefined) interrupted.push(run);
  }
  return interrupted;
}
