import type { Duration } from '../../core';
import { DAY_MS, parsePositiveDuration } from '../../core/duration';
import { LONGEST_KEPT_DAYS, purgeRuns } from '../../ledger/operator/purge-runs';
import type { LedgerContext } from '../../ledger/store-statements';
import type { JobRegistry } from '../jobs/job-registry';
import type { Service } from './upkeep';

/** Held by the instance that purges. If a job has this name too, the purge waits for the next day. */
const PURGE_LOCK = { name: 'cronlatch-purge', lockAtMostFor: '1m', keepAlive: true } as const;

/** Purges old runs once a day, on one instance at a time. */
export class Retention implements Service {
  readonly failure = 'Could not purge old runs. The guard tries again in a day.';
  readonly everyMs = DAY_MS;
  /** Leaves a new instance time to register its jobs, whose catch-up windows a purge spares. */
  readonly firstAfterMs = 600_000;
  readonly #keptMs: number;
  readonly #stop = new AbortController();

  /** @throws InvalidLockConfigurationError for an invalid duration */
  constructor(
    private readonly context: LedgerContext,
    retention: Duration,
    private readonly jobs: JobRegistry,
  ) {
    this.#keptMs = parsePositiveDuration(retention, 'retention', LONGEST_KEPT_DAYS);
  }

  /** @throws InvalidLockConfigurationError if the function of `standby` fails */
  async run(): Promise<void> {
    const { context, jobs } = this;
    if (jobs.isOnStandby) return;
    const warning = (message: string, error: unknown): void =>
      context.events.emit('guard:warning', error === undefined ? { message } : { message, error });
    const lock = await context.lockProvider.lock(PURGE_LOCK, { warning });
    if (lock === undefined) return; // Another instance purges.
    try {
      const signal = AbortSignal.any([this.#stop.signal, lock.signal]);
      const keptMs = Math.max(this.#keptMs, jobs.longestWindowMs);
      if (!signal.aborted) await purgeRuns(context, keptMs, signal);
    } finally {
      await lock.unlock();
    }
  }

  stop(): void {
    this.#stop.abort();
  }
}
