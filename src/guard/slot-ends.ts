import { describeRun } from '../ledger/tick/claim-run';
import type { Outcome } from '../ledger/tick/decide-outcome';
import { decideNotBegun, type NotBegun } from '../ledger/slots/decide-slot';
import { claimLost, keptResult, recordOutcome } from '../ledger/tick/record-outcome';
import { untilAnswered, type LedgerContext } from '../ledger/store-statements';
import { storedError } from '../ledger/tick/stored-text';
import { runEventOf, type OpenSlot } from './slot';

/**
 * How long a store that is away is asked again; not at all by a guard that has closed. What it never hears of is
 * interrupted when its lease is over.
 */
const PATIENCE_MS = 600_000;
const NEVER_AGAIN = { maxAttempts: 1, minDelayMs: 0, backoff: 1, maxDelayMs: 0, untilMs: undefined };

/** Records what became of slots, and tells it afterwards. Nothing here rejects: what goes wrong is a warning. */
export class SlotEnds {
  constructor(private readonly context: LedgerContext) {}

  async completed(open: OpenSlot, value: unknown): Promise<void> {
    const { events, clock } = this.context;
    const durationMs = clock.monotonicMs() - open.beganAtMs;
    const result = keptResult(this.context, open.claim, value);
    if (await this.#isRecorded(open, { kind: 'completed', result }))
      events.emit('run:completed', { ...runEventOf(open), durationMs });
  }

  /** For good: no scheduler brings a slot back. */
  async failed(open: OpenSlot, error: unknown): Promise<void> {
    const { events, clock } = this.context;
    const durationMs = clock.monotonicMs() - open.beganAtMs;
    await this.#isRecorded(open, {
      kind: 'failed',
      error,
      errorText: storedError(error),
      retry: NEVER_AGAIN,
    });
    events.emit('run:failed', { ...runEventOf(open), error, durationMs });
  }

  /** A row that is not ours, or not there, is left alone. */
  async notBegun({ claim, active }: OpenSlot, why: NotBegun): Promise<void> {
    const { store, clock } = this.context;
    try {
      const verdict = await untilAnswered(
        this.context,
        clock.monotonicMs() + PATIENCE_MS,
        (options) => store.change(claim, (found) => decideNotBegun(found, claim, why), options),
        active.lapseSignal,
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
    const limits = { remainingMs: PATIENCE_MS, ended: active.lapseSignal };
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
