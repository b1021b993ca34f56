import { JobGuard, type JobGuardOptions } from 'cronlatch';
import { guardWithRuns } from '#cronlatch/guard/job-guard';
import { noticesOf } from '#cronlatch/operations/notices';
import type { RunStore } from '#cronlatch/ledger/run-store';

/** The options of a guard, with any store of runs: a broken one, or one that a test watches. */
export interface GuardOptions extends JobGuardOptions {
  readonly runStore?: RunStore | undefined;
}

export function newGuard({ runStore, ...options }: GuardOptions): JobGuard {
  return runStore === undefined ? new JobGuard(options) : guardWithRuns(options, runStore, noticesOf);
}
