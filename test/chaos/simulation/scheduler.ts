import type { Random } from '#cronlatch/contracts/random';

interface Pending {
  readonly dueMs: number;
  readonly run: () => void;
}

/** The time at which a simulation begins. A token counts microseconds, so it is above zero from the start. */
export const STARTS_AT_MS = 1_000_000;

/**
 * The only source of time in a simulation. Times are whole milliseconds, so many calls are due at once; the
 * seed decides their order.
 */
export class Scheduler {
  #nowMs = STARTS_AT_MS;
  #steps = 0;
  readonly #pending = new Set<Pending>();

  constructor(private readonly random: Random) {}

  get nowMs(): number {
    return this.#nowMs;
  }

  get steps(): number {
    return this.#steps;
  }

  /** @returns a function that cancels the call */
  after(delayMs: number, run: () => void): () => void {
    const pending = { dueMs: this.#nowMs + Math.max(0, Math.ceil(delayMs)), run };
    this.#pending.add(pending);
    return () => void this.#pending.delete(pending);
  }

  async runUntil(endMs: number): Promise<void> {
    for (let next = this.#next(endMs); next !== undefined; next = this.#next(endMs)) {
      this.#pending.delete(next);
      this.#nowMs = next.dueMs;
      this.#steps += 1;
      next.run();
      await everythingThatNeedsNoTime();
    }
    this.#nowMs = Math.max(this.#nowMs, endMs);
  }

  #next(endMs: number): Pending | undefined {
    let dueMs = endMs;
    let due: Pending[] = [];
    for (const pending of this.#pending) {
      if (pending.dueMs > dueMs) continue;
      if (pending.dueMs < dueMs) due = [];
      dueMs = pending.dueMs;
      due.push(pending);
    }
    return due.length > 1 ? this.random.pick(due) : due[0];
  }
}

function everythingThatNeedsNoTime(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
