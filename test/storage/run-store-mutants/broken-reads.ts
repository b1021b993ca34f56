import type { BrokenRunStore } from './broken-run-store';
import type { Mutants } from '../contract-mutants/overlay';

/** Stores that decide by a plain read, which a proxy may send to a replica. */
export const BROKEN_READS: Mutants<BrokenRunStore> = {
  'with stale reads, a claimed run is not inserted again (L1, F-36)': {
    'asks a replica whether a run exists': ({ store, runs, plainRead }) => ({
      insert(run) {
        if (plainRead(run) === undefined) runs.delete(run);
        return store.insert(run);
      },
    }),
  },
  'with stale reads, a change decides by the row as it is (L2, F-36)': {
    'asks a replica for the row that it changes': ({ store, plainRead }) => ({
      change: (key, decide) =>
        store.change(key, (found) => decide(found && { ...found, run: plainRead(key) ?? found.run })),
    }),
  },
  'with stale reads, a run is completed, and only once (L3, F-36)': {
    'asks a replica whether it runs a run': ({ store, plainRead }) => ({
      complete: (claim, result) =>
        plainRead(claim)?.claimedBy === claim.claimedBy
          ? store.complete(claim, result)
          : Promise.resolve(false),
    }),
  },
};
