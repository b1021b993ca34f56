/**
 * For operators: what the instances of all deployments do, and why a job does not run. The command line and the dashboard
 * show it.
 *
 * @packageDocumentation
 */
import type { JobGuard } from '../guard';
import { callsOf } from '../guard/calls/calls';
import { readOverview, type Overview, type OverviewOptions } from './overview';

export type { JobOverview, Overview, OverviewOptions } from './overview';
export type { JobRemark } from './remarks';
export type { Operations };
export { commandOf, type Remedy } from '../ledger/operator/remedy';

/** What an operator can see and do. */
class Operations {
  constructor(private readonly guard: JobGuard) {}

  /**
   * Shows the jobs of all instances at a glance: what runs, what is held and by whom, and each problem with the command that
   * fixes it. Sends four statements, and one more for each further thousand of held locks. A lock provider that cannot list
   * its locks gets one read for each known job instead, all at once. If it does not answer, that is a problem.
   *
   * @throws LockStorageError if a store fails
   */
  async overview(options: OverviewOptions = {}): Promise<Overview> {
    const { oncePerRunner } = callsOf(this.guard).parts;
    return await readOverview(oncePerRunner, this.guard.locks, options);
  }
}

/**
 * The operations of a guard. Each method sends statements to its database and its lock provider.
 *
 * @throws InvalidLockUseError for anything but a guard
 */
export function operations(guard: JobGuard): Operations {
  callsOf(guard, 'operations');
  return new Operations(guard);
}
