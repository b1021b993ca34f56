import { periodAt } from '../../ledger';
import { calendarPeriodsOf } from '../../ledger/policy/job-policy';
import { newRunOf } from '../../ledger/run';
import type { NewRun } from '../../ledger/run-store';
import { limitOf } from '../../ledger/store-statements';
import type { ForcedRelease, GuardLocks } from './guard-locks';
import type { JobCatalog } from './job-catalog';

/**
 * The current periods of jobs whose tick has passed without an answer. With a record, such a run also starts if the
 * instance that got the tick has been restarted. Its start deadline would then count from another time, so jobs with
 * one are left out.
 */
export async function findCurrentRuns(known: JobCatalog, lock: string): Promise<readonly NewRun[]> {
  const runs: NewRun[] = [];
  for (const job of known.oncePerJobsOf(lock)) {
    const { declared } = known.get(job) ?? {};
    const at = known.lastTimeOf(job);
    const policy = known.knownPolicy(job);
    const periods = policy && calendarPeriodsOf(policy);
    if (periods === undefined || at === undefined) continue;
    if (declared?.hasScopeFunction || policy?.startDeadlineMs !== undefined) continue;
    const run = newRunOf({ job, scope: declared?.scope ?? '' }, periodAt(at, periods), periods.timeZone);
    const isDue =
      known.isCurrent(run) && (await known.ledger.explain(job, { ...run, at })).decision === 'run';
    if (isDue) runs.push({ ...run, state: 'pending' });
  }
  return runs;
}

/** `starting` is what `findCurrentRuns` returned. Returns `false` if no operator holds the lock. */
export async function endHold(
  { locks }: { readonly locks: GuardLocks },
  lock: string,
  act: ForcedRelease,
  { context, starting }: { readonly context?: JobCatalog['context']; readonly starting: readonly NewRun[] },
): Promise<boolean> {
  // While the lock is held, no instance can start these runs.
  for (const run of starting) await context?.store.insert(run, limitOf(context));
  return await locks.unhold(lock, act);
}
