import { DAY_MS, HOUR_MS } from '../core/duration';
import { dateOf, dayOf } from '../ledger/periods/business-date';
import { RunContext, runAs, type RunContextOptions } from '../ledger/tick/run-context';

/**
 * The values that `currentRun()` returns during the call. Any field you leave out gets its value of a first attempt of
 * the job `'job'`: attempt 1, generation 0, no catch-up, and without a scope, a scheduled time or a fencing token.
 */
export interface AsRunOptions {
  readonly job?: string | undefined;
  readonly scope?: string | undefined;
  /** `'YYYY-MM-DD'`. Default: today in UTC. */
  readonly businessDate?: string | undefined;
  /** Default: the business date. */
  readonly periodKey?: string | undefined;
  /** Default: the start of the business date in UTC. Pass `undefined` for a job with a custom key. */
  readonly periodStart?: Date | undefined;
  /** Default: the end of the business date in UTC. Pass `undefined` for a job with a custom key. */
  readonly periodEnd?: Date | undefined;
  readonly scheduledAt?: Date | undefined;
  readonly attempt?: number | undefined;
  readonly generation?: number | undefined;
  readonly isCatchUp?: boolean | undefined;
  /** Default: a signal that never aborts. */
  readonly signal?: AbortSignal | undefined;
  readonly fencingToken?: number | undefined;
}

export interface AsRunResult<T> {
  readonly value: T;
  /** The last call of `giveBack()` or `skip(reason)` in `work`. */
  readonly decision:
    { readonly kind: 'given-back' } | { readonly kind: 'skipped'; readonly reason: string } | undefined;
}

/**
 * Calls `work` as if inside the run of a once-per job, for a test of what the job does. `currentRun()` returns the
 * values that the test passes. Nothing is claimed or recorded, and no lock is held.
 *
 * @throws InvalidLockConfigurationError if the business date does not exist
 * @throws the errors of `work`, unchanged
 */
export async function asRun<T>(
  options: AsRunOptions,
  work: () => T | PromiseLike<T>,
): Promise<AsRunResult<T>> {
  const run = new RunContext(contextOf(options));
  try {
    const value = await runAs(run, work);
    return { value, decision: run.decided };
  } finally {
    run.settle();
  }
}

function contextOf(options: AsRunOptions): RunContextOptions {
  const { job = 'job', scope = '', attempt = 1, generation = 0, isCatchUp = false } = options;
  const { businessDate = dateOf(Math.floor(Date.now() / DAY_MS)), periodKey = businessDate } = options;
  const { scheduledAt, fencingToken, signal = new AbortController().signal } = options;
  const startMs = dayOf(businessDate, 'businessDate') * DAY_MS;
  const start = 'periodStart' in options ? options.periodStart : new Date(startMs);
  const end = 'periodEnd' in options ? options.periodEnd : new Date(startMs + DAY_MS);
  return {
    claim: { job, scope, periodKey, generation, attempt, claimedBy: 'asRun' },
    period: { key: periodKey, businessDate, start, end },
    lock: { signal, fencingToken, remainingMs: () => (signal.aborted ? 0 : HOUR_MS) },
    scheduledAt,
    isCatchUp,
    ledger: undefined,
  };
}
