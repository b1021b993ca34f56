import { rewritingOthers } from './broken-changes';
import { rewriting, type Bench, type BrokenRunStore } from './broken-run-store';
import type { Claim, Run } from '#cronlatch/ledger/run';
import type { Mutants } from '../contract-mutants/overlay';

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

export const BROKEN_COMPLETIONS: Mutants<BrokenRunStore> = {
  'a run is completed by its claim, and only once (L3)': {
    'completes a completed run': matching(
      ({ state, claimedBy }, claim) => state === 'completed' && claimedBy === claim.claimedBy,
    ),
  },
  'of 20 simultaneous completions of a run, one succeeds (L-21)': {
    'returns true from every completion': ({ store }) => ({
      complete: (claim, result) => store.complete(claim, result).then(() => true),
    }),
  },
  'a completion writes the result and the end, clears the earlier error, and keeps the other fields (L3)': {
    'keeps the error of an earlier attempt': rewriting('complete', (_, before) => ({ error: before?.error })),
  },
  'a completion without a result leaves the run without a result (L3)': {
    'keeps an earlier result if there is none': rewriting('complete', ({ result }, before) => ({
      result: result ?? before?.result,
    })),
  },
  'a run can be completed after its lease has expired (L-24)': {
    'does not complete after the lease has expired': ({ store, runs }) => ({
      complete(claim, result) {
        const { leaseUntil } = runs.row(claim)?.run ?? {};
        const isOver = leaseUntil !== undefined && leaseUntil <= runs.now();
        return isOver ? Promise.resolve(false) : store.complete(claim, result);
      },
    }),
  },
  'a claim of another attempt completes nothing (L3)': {
    'ignores the attempt': matching(
      (run, claim) =>
        isRunning(run) && run.generation === claim.generation && run.claimedBy === claim.claimedBy,
    ),
  },
  'a claim of another generation completes nothing (L-53)': {
    'ignores the generation': matching(
      (run, claim) => isRunning(run) && run.attempt === claim.attempt && run.claimedBy === claim.claimedBy,
    ),
  },
  'a claim of another process completes nothing, however similar its name is (L3)': {
    'compares claims without case': matching(
      (run, claim) => isRunning(run) && run.claimedBy?.toLowerCase() === claim.claimedBy.toLowerCase(),
    ),
  },
  'a run that is not running is not completed by any claim (L3)': {
    'completes a run that is not running': matching(
      (run, claim) => run.claimedBy === claim.claimedBy && run.attempt === claim.attempt,
    ),
  },
  'a completion leaves all other runs unchanged (L3)': {
    'completes every run of the claim': rewritingOthers(
      'complete',
      (run) => isRunning(run) && { state: 'completed' },
    ),
  },
  'the holder of a deleted run does not complete, change or recreate it (L-14)': {
    'recreates a deleted row'({ store, runs }) {
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
};
