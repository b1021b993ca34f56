import type { RunStore } from '#cronlatch/ledger/run-store';

/** The rest of a store of runs for tests of runs alone: its register stays empty. */
export class WithoutRegister {
  readonly latest: RunStore['latest'] = () => Promise.resolve([]);
  readonly summaries: RunStore['summaries'] = () => Promise.resolve([]);
  readonly counts: RunStore['counts'] = () => Promise.resolve([]);
  readonly registerJobs: RunStore['registerJobs'] = () => Promise.resolve();
  readonly jobs: RunStore['jobs'] = () => Promise.resolve({ now: new Date(), jobs: [] });
  readonly since: RunStore['since'] = () => Promise.resolve([]);
  readonly answerJobs: RunStore['answerJobs'] = () => Promise.resolve();
  readonly forgetJob: RunStore['forgetJob'] = () => Promise.resolve(false);
  readonly check: RunStore['check'] = () => Promise.resolve();
}
