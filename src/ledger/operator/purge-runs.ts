import { noneAfter, SchemaMismatchError } from '../../core';
import { DAY_MS } from '../../core/duration';
import { knownRegister } from '../job-register';
import { limitOf, retryTransient, type LedgerContext } from '../store-statements';

/** The longest time for which a purge can keep runs: a century. */
export const LONGEST_KEPT_DAYS = 36_500;

/** How many runs one transaction deletes: few enough that claims do not wait for it. */
const PURGED_AT_ONCE = 1000;

/** So long, a notice that was sent is not stored again. */
const NOTICES_KEPT_MS = 7 * DAY_MS;

/** How many runs of a job and scope that runs once per tick always stay. */
const KEPT_TICKS = 1000;

/**
 * Purges the runs of old ticks, then other old runs, step by step, and then acts and notices. Spares the catch-up windows of all
 * registered jobs. Retries a step that failed because of another transaction or had no answer in time. The signal ends
 * the purge after its transaction.
 *
 * @param keptMs `undefined`: only runs of ticks are purged
 * @returns how many runs were deleted, as far as the store has answered
 */
export async function purgeRuns(
  context: LedgerContext,
  keptMs: number | undefined,
  signal?: AbortSignal,
): Promise<number> {
  const register = keptMs && (await knownRegister(context.store.jobs(limitOf(context))));
  const { jobs = [], unreadable = [] } = register || {};
  const windows = [...jobs, ...unreadable].map(({ declared }) => declared?.catchUp?.windowMs ?? 0);
  const olderThanMs = keptMs && Math.max(keptMs, ...windows);
  const ofTicks = { olderThanMs: 0, keptTicks: KEPT_TICKS };
  let deleted = 0;
  for (const request of olderThanMs === undefined ? [ofTicks] : [ofTicks, { olderThanMs }]) {
    let from: unknown;
    if (signal?.aborted) break;
    do {
      const step = await retryTransient(
        context,
        (options) => context.store.purge({ ...request, limit: PURGED_AT_ONCE, from }, options),
        (outcome) => outcome !== 'nothing-ran',
      );
      deleted += step.deleted;
      from = step.next;
    } while (from !== undefined && !signal?.aborted);
  }
  const { acts, notices } = context.store;
  for (const [store, ageMs] of [[acts, olderThanMs] as const, [notices, NOTICES_KEPT_MS] as const])
    // Without its table, there is nothing to purge.
    if (ageMs !== undefined)
      await store?.purge(ageMs, limitOf(context)).catch(noneAfter(SchemaMismatchError));
  return deleted;
}
