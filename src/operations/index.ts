/**
 * For operators: what the instances of all deployments do, why a job does not run, and what an operator can do about it. The
 * command line and the dashboard are made from it.
 *
 * @packageDocumentation
 */
import type { JobGuard } from '../guard';
import { callsOf } from '../guard/calls/calls';
import type { ActQuery, StoredAct } from '../ledger';
import { limitOf } from '../ledger/store-statements';
import { actMethods, type ActMethods } from './acts';
import { readOverview, type Overview, type OverviewOptions } from './overview';

export type { ActQuery, ActState, StoredAct } from '../ledger';
export type { ActResult } from './acts/act';
export { ConflictError } from '../ledger/operator/decide-act';
export type { ActMethods, PauseSubject, RunSubject } from './acts';
export type { JobOverview, Overview, OverviewOptions } from './overview';
export type { JobRemark } from './remarks';
export { commandOf, type Remedy } from '../ledger/operator/remedy';

/** What an operator can see and do. */
export interface Operations extends ActMethods {
  /**
   * Shows the jobs of all instances at a glance: what runs, what is paused and by whom, and each problem with its remedy.
   * Sends four statements, and one more for each further thousand of held locks. A lock provider that cannot list
   * its locks gets one read for each known job instead, all at once. If it does not answer, that is a problem.
   *
   * @throws LockStorageError if a store fails
   */
  overview(options?: OverviewOptions): Promise<Overview>;
  /**
   * Lists the acts of operators, the newest first: by default 100 at most. Each has its actor, its reason and its state, also a
   * request to run a job that waits.
   *
   * @param query.since default: all that the table keeps. `purge` and the guard's `retention` delete old ones.
   * @throws InvalidLockConfigurationError if the guard keeps no runs
   * @throws SchemaMismatchError if the table of acts is missing
   */
  acts(query?: Partial<ActQuery>): Promise<readonly StoredAct[]>;
}

/**
 * The operations of a guard. Each method sends statements to its database and its lock provider.
 *
 * @throws InvalidLockUseError for anything but a guard
 */
export function operations(guard: JobGuard): Operations {
  const { oncePerRunner } = callsOf(guard, 'operations').parts;
  return {
    overview: async (options = {}) => await readOverview(oncePerRunner, guard.locks, options),
    async acts({ limit = 100, ...query } = {}) {
      const { context } = callsOf(guard).requireOncePerRunner('operations(guard).acts needs');
      return (await context.store.acts?.list({ ...query, limit }, limitOf(context))) ?? [];
    },
    ...actMethods(guard),
  };
}
