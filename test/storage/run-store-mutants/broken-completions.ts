import { rewritingOthers } from './broken-changes';
import { rewriting, type Bench, type BrokenRunStore } from './broken-run-store';
import type { Claim, Run } from '#cronlatch/ledger/run';

/** Completes whatever the row's claim is, where the asked one is `alike`. */
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
    does: 'completes what is completed',
    caughtBy: 'L3 a run is completed by its claim, and not a second time',
    breaks: matching(({ state, claimedBy }, claim) => state === 'completed' && claimedBy === claim.claimedBy),
  },
  {
    does: 'says of every completion that it was the first',
    caughtBy: 'L-21 of 20 that complete a run at once, one does',
    breaks: ({ store }) => ({ complete: (claim, result) => store.complete(claim, result).then(() => true) }),
  },
  {
    does: 'leaves the error of an earlier attempt',
    caughtBy: 'L3 a completion writes result and end, clears what had failed before, and keeps the rest',
    breaks: rewriting('complete', (_, before) => ({ error: before?.error })),
  },
  {
    does: 'keeps a result where there is none',
    caughtBy: 'L3 a completion without a result leaves none',
    breaks: rewriting('complete', ({ result }, before) => ({ result: result ?? before?.result })),
  },
  {
    does: 'completes nothing when the lease is over',
    caughtBy: 'L-24 the end of the lease forbids no completion',
    breaks: ({ store, runs }) => ({
      complete(claim, result) {
        const { leaseUntil } = runs.row(claim)?.run ?? {};
        const isOver = leaseUntil !== undefined && leaseUntil <= runs.now();
        return isOver ? Promise.resolve(false) : store.complete(claim, result);
      },
    }),
  },
  {
    does: 'takes no notice of the attempt',
    caughtBy: 'L3 a claim of another attempt completes nothing',
    breaks: matching(
      (run, claim) =>
        isRunning(run) && run.generation === claim.generation && run.claimedBy === claim.claimedBy,
    ),
  },
  {
    does: 'takes no notice of the generation',
    caughtBy: 'L-53 a claim of another generation completes nothing',
    breaks: matching(
      (run, claim) => isRunning(run) && run.attempt === claim.attempt && run.claimedBy === claim.claimedBy,
    ),
  },
  {
    does: 'compares claims without case',
    caughtBy: 'L3 a claim of somebody else completes nothing, however alike they are called',
    breaks: matching(
      (run, claim) => isRunning(run) && run.claimedBy?.toLowerCase() === claim.claimedBy.toLowerCase(),
    ),
  },
  {
    does: 'completes what does not run',
    caughtBy: 'L3 a run that does not run is not completed, whoever asks',
    breaks: matching((run, claim) => run.claimedBy === claim.claimedBy && run.attempt === claim.attempt),
  },
  {
    does: 'completes every run of the claim',
    caughtBy: 'L3 a completion leaves all other runs as they are',
    breaks: rewritingOthers('complete', (run) => isRunning(run) && { state: 'completed' }),
  },
  {
    does: 'makes the row again that was deleted',
    caughtBy: 'L-14 a run that was deleted is not completed, changed or made again by its holder',
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
