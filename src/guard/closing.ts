import type { Clock } from '../core';
import type { RunRegistry } from '../core/execution/run-registry';
import {
  checkCloseOptions,
  closeRuns,
  type CloseHook,
  type CloseOptions,
  type CloseRequest,
  type CloseResult,
} from './close';
import { closeOnSignals } from './close-on-signals';

/** The end of one guard: it comes once, by a call or by a signal. */
export class Closing {
  readonly #hooks: CloseHook[] = [];
  readonly #signalListeners: (() => void)[] = [];
  #result: Promise<CloseResult> | undefined;

  constructor(
    private readonly runs: RunRegistry,
    private readonly clock: Clock,
    private readonly warn: CloseRequest['warn'],
  ) {}

  get hasBegun(): boolean {
    return this.#result !== undefined;
  }

  add(hook: CloseHook): void {
    this.#hooks.push(hook);
  }

  /** Again, it gives the same answer. */
  async close(options: CloseOptions): Promise<CloseResult> {
    const limits = checkCloseOptions(options);
    const { runs, clock, warn } = this;
    this.#result ??= closeRuns({ runs, clock, hooks: this.#hooks, warn, ...limits }).finally(() => {
      for (const stopListening of this.#signalListeners) stopListening();
    });
    return await this.#result;
  }

  /** @returns a function that stops listening */
  onSignals(options: CloseOptions, close: () => Promise<unknown>): () => void {
    checkCloseOptions(options);
    const stopListening = closeOnSignals(close, this.warn);
    this.#signalListeners.push(stopListening);
    return stopListening;
  }
}
