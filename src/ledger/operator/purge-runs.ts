import { SchemaMismatchError } from '../../core';
import { limitOf, retryTransient, type LedgerContext } from '../store-statements';

/** The longest time for which a purge can keep runs: a century. */
export const LONGEST_KEPT_DAYS = 36_500;

/** How many runs one transaction deletes: few enough that claims do not wait for it. */
const PURGED_AT_ONCE = 1000;

/**
 * Purges runs step by step, and then notices. Spares the catch-up windows of all registered jobs. Retries a step that
 * failed because of another transaction or had no answer in time. The signal ends the purge after its transaction.
 *
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
