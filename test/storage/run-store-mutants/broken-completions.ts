import { rewritingOthers } from './broken-changes';
import { rewriting, type Bench, type BrokenRunStore } from './broken-run-store';
import type { Claim, Run } from '#cronlatch/ledger/run';

/** Completes a run with any claim that is `alike` the requested one. */
function matching(alike: (run: Run, claim: Claim) => boolean) {
  return ({ store, runs }: Bench): Pick<Bench['store'], 'complete'> => ({
    complete(claim, result) {
      const row = runs.row(claim);
      if (row === undefined || !alike(row.run, claim)) return store.complete(claim, result);
      const { generation, attempt, claimedBy = '' } = row.run;
      row.run = { ...row.run, state: 'running', claimedBy };
      return store.complete({ ...claim, generation, attempt, claimedBy }, result);
    },
  });
}

const isRunning = ({ state }: Run): boolean => state === 'running';

export const BROKEN_COMPLETIONS: readonly BrokenRunStore[] = [
  {
    does: 'completes a completed run',
    caughtBy: 'a run is completed by its claim, and only once (L3)',
    breaks: matching(({ state, claimedBy }, claim) => state === 'completed' && claimedBy === claim.claimedBy),
  },
  {
    does: 'returns true from every completion',
    caughtBy: 'of 20 simultaneous completions of a run, one succeeds (L-21)',
    breaks: ({ store }) => ({ complete: (claim, result) => store.complete(claim, result).then(() => true) }),
  },
  {
    does: 'keeps the error of an earlier attempt',
    caughtBy:
      'a completion writes the result and the end, clears the earlier failure, and keeps the other fields (L3)',
    breaks: rewriting('complete', (_, before) => ({ error: before?.error })),
  },
  {
    does: 'keeps an earlier result if there is none',
    caughtBy: 'a completion without a result leaves the run without a result (L3)',
    breaks: rewriting('complete', ({ result }, before) => ({ result: result ?? before?.result })),
  },
  {
    does: 'does not complete after the lease has expired',
    caughtBy: 'a run can be completed after its lease has expired (L-24)',
    breaks: ({ store, runs }) => ({
      complete(claim, result) {
        const { leaseUntil } = runs.row(claim)?.run ?? {};
        const isOver = leaseUntil !== undefined && leaseUntil <= runs.now();
        return isOver ? Promise.resolve(false) : store.complete(claim, result);
      },
    }),
  },
  {
    does: 'ignores the attempt',
    caughtBy: 'a claim of another attempt completes nothing (L3)',
    breaks: matching(
      (run, claim) =>
        isRunning(run) && run.generation === claim.generation && run.claimedBy === claim.claimedBy,
    ),
  },
  {
    does: 'ignores the generation',
    caughtBy: 'a claim of another generation completes nothing (L-53)',
    breaks: matching(
      (run, claim) => isRunning(run) && run.attempt === claim.attempt && run.claimedBy === claim.claimedBy,
    ),
  },
  {
    does: 'compares claims without case',
    caughtBy: 'a claim of another process completes nothing, however similar its name is (L3)',
    breaks: matching(
      (run, claim) => isRunning(run) && run.claimedBy?.toLowerCase() === claim.claimedBy.toLowerCase(),
    ),
  },
  {
    does: 'completes a run that is not running',
    caughtBy: 'a run that is not running is not completed by any claim (L3)',
    breaks: matching((run, claim) => run.claimedBy === claim.claimedBy && run.attempt === claim.attempt),
  },
  {
    does: 'completes every run of the claim',
    caughtBy: 'a completion leaves all other runs unchanged (L3)',
    breaks: rewritingOthers('complete', (run) => isRunning(run) && { state: 'completed' }),
  },
  {
    does: 'recreates a deleted row',
    caughtBy: 'the holder of a deleted run does not complete, change or recreate it (L-14)',
    breaks({ store, runs }) {
      let last: Run | undefined;
      return {
        insert(run) {
          const inserted = store.insert(run);
          last = runs.row(run)?.run;
          return inserted;
        },
        complete(claim, result) {
          if (runs.row(claim) === undefined && last !== undefined) runs.add({ run: last, events: [] });
          return store.complete(claim, result);
        },
      };
    },
  },
];
