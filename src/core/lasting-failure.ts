import type { EventHub } from './execution/event-hub';

/** Warns of an act that fails, and not again until it has worked. */
export class LastingFailure {
  #isLasting = false;

  constructor(private readonly events: EventHub) {}

  end(): void {
    this.#isLasting = false;
  }

  report(message: string, error?: unknown): void {
    if (!this.#isLasting) this.events.warn(message, error);
    this.#isLasting = true;
  }

  /** Never rejects. */
  async attempt(message: string, act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
      this.end();
    } catch (error) {
      this.report(message, error);
    }
  }
}
