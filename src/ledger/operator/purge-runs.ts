import { retryTransient, type StoreContext } from '../store-statements';

/** How many runs one transaction deletes: few enough that claims do not wait for it. */
const PURGED_AT_ONCE = 1000;

/**
 * Purges step by step. Retries a step that failed because of another transaction or had no answer in time.
 *
 * @param signal ends the purge after the transaction that it is in
 * @returns how many runs were deleted, as far as the store has answered
 */
export async function purgeRuns(
  context: StoreContext,
  olderThanMs: number,
  signal?: AbortSignal,
): Promise<number> {
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
  return deleted;
}
