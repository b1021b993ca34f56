import { describeRun, type Run } from '../run';
import { limitOf, untilAnswered, type LedgerContext, type StoreContext } from '../store-statements';
import type { Outcome } from '../tick/decide-outcome';
import { claimLost, keptResult, recordOutcome } from '../tick/record-outcome';
import { storedError } from '../tick/stored-text';
import { decideExpired, decideNotBegun, isExpired, type NotBegun } from './decide-slot';
import { isSlot, slotRunEventOf, type OpenSlot } from './slot';

/**
 * How long an outcome is sent to a store that does not answer. A closed guard stops at once. If the store never gets it,
 * the run counts as interrupted after its lease.
 */
const PATIENCE_MS = 600_000;
const NEVER_AGAIN = { maxAttempts: 1, initialDelayMs: 0, factor: 1, maxDelayMs: 0, untilMs: undefined };

/** Records the outcomes of slots, then emits their events. Nothing here rejects: a failure becomes a warning. */
export class SlotOutcomes {
  constructor(private readonly context: LedgerContext) {}

  async recordCompleted(open: OpenSlot, value: unknown): Promise<void> {
    const { events, clock } = this.context;
    const durationMs = clock.monotonicMs() - open.beganAtMs;
    const result = keptResult(this.context, open.claim, value);
    if (await this.#isRecorded(open, { kind: 'completed', result }))
      events.emit('run:completed', { ...slotRunEventOf(open), durationMs });
  }

  /** A slot fails permanently: no scheduler retries one. */
  async recordFailed(open: OpenSlot, error: unknown): Promise<void> {
    const { events, clock } = this.context;
    const durationMs = clock.monotonicMs() - open.beganAtMs;
    await this.#isRecorded(open, {
      kind: 'failed',
      error,
      errorText: storedError(error),
      retry: NEVER_AGAIN,
    });
    events.emit('run:failed', { ...slotRunEventOf(open), error, durationMs });
  }

  /** Changes nothing if the row is missing or belongs to another instance. */
  async recordNotBegun({ claim, active }: OpenSlot, why: NotBegun): Promise<void> {
    const { store, clock } = this.context;
    try {
      const verdict = await untilAnswered(
        this.context,
        clock.monotonicMs() + PATIENCE_MS,
        (options) => store.change(claim, (found) => decideNotBegun(found, claim, why), options),
        active.abandonedSignal,
      );
      if (verdict === 'not-ours') return;
      this.#warn(
        `What was claimed here as ${describeRun(claim)} stands as failed (${why.reason}). ${why.error}`,
      );
    } catch (error) {
      this.#warn(`That ${describeRun(claim)} was claimed here, but not begun, could not be recorded.`, error);
    }
  }

  async #isRecorded({ claim, active }: OpenSlot, outcome: Outcome): Promise<boolean> {
    const limits = { remainingMs: PATIENCE_MS, abandonedSignal: active.abandonedSignal };
    try {
      const verdict = await recordOutcome(this.context, claim, outcome, limits);
      if (verdict.kind === 'lost') throw claimLost(claim, verdict.run);
      return true;
    } catch (error) {
      this.#warn(`What became of ${describeRun(claim)} could not be recorded.`, error);
      return false;
    }
  }

  #warn(message: string, error?: unknown): void {
    this.context.events.emit('guard:warning', error === undefined ? { message } : { message, error });
  }
}

/**
 * Marks a job's slots as interrupted whose leases have expired while they were running. They are not retried.
 *
 * @param isHere whether a claim belongs to this process, which still works on it whatever its lease
 * @returns the runs as they stood before
 */
export async function interruptExpiredSlots(
  context: StoreContext,
  job: string,
  isHere: (claimedBy: string | undefined) => boolean,
): Promise<readonly Run[]> {
  const { store } = context;
  const request = { job, scope: '', periodKey: undefined, since: undefined };
  const { now, runs } = await store.peek(request, limitOf(context));
  const expired = runs.filter((run) => isSlot(run) && isExpired(run, now) && !isHere(run.claimedBy));
  const interrupted: Run[] = [];
  for (const { claimedBy, ...key } of expired) {
    const run = await store.change(key, (found) => decideExpired(found, claimedBy), limitOf(context));
    if (run !== undefined) interrupted.push(run);
  }
  return interrupted;
}
