import type { Duration, LockProvider } from '../../core';
import { parsePositiveDuration } from '../../core/duration';
import type { StoreContext } from '../store-statements';
import { purgeRuns } from './purge-runs';
import { LONGEST_KEPT_DAYS } from './run-ledger';

/** Held by the instance that purges. If a job has this name too, the purge waits for the next day. */
const PURGE_LOCK = { name: 'cronlatch-purge', lockAtMostFor: '1m', keepAlive: true } as const;
/** Leaves a new instance time to register its jobs, whose catch-up windows a purge spares. */
const FIRST_DELAY_MS = 600_000;
const INTERVAL_MS = 86_400_000;

export interface RetentionOptions {
  readonly lockProvider: LockProvider;
  /** The jobs of the guard. `isOnStandby` throws an InvalidLockConfigurationError if the function of `standby` fails. */
  readonly jobs: { readonly longestWindowMs: number; readonly isOnStandby: boolean };
  readonly warn: (message: string, error?: unknown) => void;
}

/** Purges old runs once a day, on one instance at a time. Its timer does not keep the process alive. */
export class Retention {
  readonly #keptMs: number;
  readonly #stop = new AbortController();
  #cancelTimer = (): void => {};
  #purge: Promise<void> = Promise.resolve();

  /** @throws InvalidLockConfigurationError for an invalid duration */
  constructor(
    private readonly context: StoreContext,
    retention: Duration,
    private readonly options: RetentionOptions,
  ) {
    this.#keptMs = parsePositiveDuration(retention, 'retention', LONGEST_KEPT_DAYS);
    this.#purgeIn(FIRST_DELAY_MS);
  }

  /** Resolves after the last statement. */
  async stop(): Promise<void> {
    this.#cancelTimer();
    this.#stop.abort();
    await this.#purge;
  }

  #purgeIn(delayMs: number): void {
    const purge = (): void => {
      this.#purgeIn(INTERVAL_MS);
      this.#purge = this.#purgeOnce().catch((error: unknown) =>
        this.options.warn('Could not purge old runs. The guard tries again in a day.', error),
      );
    };
    this.#cancelTimer = this.context.clock.schedule(delayMs, purge, { keepAlive: false });
  }

  async #purgeOnce(): Promise<void> {
    const { lockProvider, jobs, warn } = this.options;
    if (jobs.isOnStandby) return;
    const lock = await lockProvider.lock(PURGE_LOCK, { warning: warn });
    if (lock === undefined) return; // Another instance purges.
    try {
      const signal = AbortSignal.any([this.#stop.signal, lock.signal]);
      const keptMs = Math.max(this.#keptMs, jobs.longestWindowMs);
      if (!signal.aborted) await purgeRuns(this.context, keptMs, signal);
    } finally {
      await lock.unlock();
    }
  }
}
