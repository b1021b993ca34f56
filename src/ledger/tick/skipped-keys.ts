import { limitOf, type StoreContext } from '../store-statements';
import type { RunKey } from '../run';

/** More than any job has periods to catch up with. */
const MOST_LOOKED_AT = 1000;

/**
 * The newest skipped periods of a job. A person may have skipped one where the job is not registered, so that nobody
 * knew when it begins: only its key tells that it is no gap.
 */
export async function skippedKeys(
  context: StoreContext,
  { job, scope }: Pick<RunKey, 'job' | 'scope'>,
): Promise<ReadonlySet<string>> {
  const query = { job, scope, states: ['skipped'], order: 'newest-first', limit: MOST_LOOKED_AT } as const;
  const runs = await context.store.find(query, limitOf(context));
  return new Set(runs.map(({ periodKey }) => periodKey));
}
