import { LockStorageError } from '../../core';
import type { PurgeStep } from '../run-store';
import { limitOf, pauseAfter, type StoreContext } from '../store-statements';

/** How many runs one transaction deletes: few enough that claims do not wait for it. */
const PURGED_AT_ONCE = 1000;
const MOST_TRIES = 4;

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
    const step = await purgeStep(context, { olderThanMs, limit: PURGED_AT_ONCE, from });
    deleted += step.deleted;
    from = step.next;
  } while (from !== undefined && !signal?.aborted);
  return deleted;
}

async function purgeStep(
  context: StoreContext,
  request: Parameters<StoreContext['store']['purge']>[0],
): Promise<PurgeStep> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await context.store.purge(request, limitOf(context));
    } catch (error) {
      const isTransient = error instanceof LockStorageError && error.outcome !== 'nothing-ran';
      if (!isTransient || tries === MOST_TRIES) throw error;
      await pauseAfter(context, tries);
    }
  }
}
