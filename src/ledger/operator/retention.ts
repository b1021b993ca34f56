import { SchemaMismatchError, type Duration } from '../../core';
import { parsePositiveDuration } from '../../core/duration';
import { limitOf, retryTransient, type LedgerContext } from '../store-statements';

/** The longest time for which a purge can keep runs: a century. */
export const LONGEST_KEPT_DAYS = 36_500;

/** Held by the instance that purges. If a job has this name too, the purge waits for the next day. */
const PURGE_LOCK = { name: 'cronlatch-purge', lockAtMostFor: '1m', keepAlive: true } as const;
/** Leaves a new instance time to register its jobs, whose catch-up windows a purge spares. */
const FIRST_DELAY_MS = 600_000;
const INTERVAL_MS = 86_400_000;

/** Purges old runs once a day, on one instance at a time. Its timer does not keep the process alive. */
export class Retention {
  readonly #keptMs: number;
  readonly #stop = new AbortController();
  #cancelTimer = (): void => {};
  #purge: Promise<void> = Promise.resolve();

  /** @throws InvalidLockConfigurationError for an invalid duration */
  constructor(
    private readonly context: LedgerContext,
    retention: Duration,
    private readonly options: {
      /** The jobs of the guard. `isOnStandby` throws an InvalidLockConfigurationError if the function of `standby` fails. */
      readonly jobs: { readonly longestWindowMs: number; readonly isOnStandby: boolean };
      readonly warn: (message: string, error?: unknown) => void;
    },
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
    const { jobs, warn } = this.options;
    if (jobs.isOnStandby) return;
    const lock = await this.context.lockProvider.lock(PURGE_LOCK, { warning: warn });
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

/** How many runs one transaction deletes: few enough that claims do not wait for it. */
const PURGED_AT_ONCE = 1000;

/**
 * Purges runs step by step, and then notices. Spares the catch-up windows of all registered jobs. Retries a step that failed because of
 * another transaction or had no answer in time.
 *
 * @param keptMs the runs of this time are kept
 * @param signal ends the purge after the transaction that it is in
 * @returns how many runs were deleted, as far as the store has answered
 */
export async function purgeRuns(
  context: LedgerContext,
  keptMs: number,
  signal?: AbortSignal,
): Promise<number> {
  const olderThanMs = Math.max(keptMs, await longestRegisteredWindowMs(context));
  let deleted = 0;
  let from: unknown;
  do {
    const request = { olderThanMs, limit: PURGED_AT_ONCE, from };
    const step = await retryTransient(
      context,
      (options) => context.store.purge(request, options),
      (outcome) => outcome !== 'nothing-ran',
    );
    deleted += step.deleted;
    from = step.next;
  } while (from !== undefined && !signal?.aborted);
  await context.store.requests?.purge(olderThanMs, limitOf(context)).catch((error: unknown) => {
    if (!(error instanceof SchemaMismatchError)) throw error; // Without the table, there are no notices.
  });
  return deleted;
}

/** 0 without a register of jobs. */
async function longestRegisteredWindowMs(context: LedgerContext): Promise<number> {
  try {
    const { jobs } = await context.store.jobs(limitOf(context));
    return Math.max(0, ...jobs.map(({ declared }) => declared.catchUp?.windowMs ?? 0));
  } catch (error) {
    if (error instanceof SchemaMismatchError) return 0;
    throw error;
  }
}
