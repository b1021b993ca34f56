import { rewriting, rewritingEvents, type BrokenRunStore } from './broken-run-store';
import type { Mutants } from '../contract-mutants/overlay';

export const BROKEN_INSERTS: Mutants<BrokenRunStore> = {
  'a new key is inserted, and the other instance finds it (L1)': {
    'inserts nothing': () => ({ insert: () => Promise.resolve(true) }),
  },
  'an existing key is refused to both instances, and its row stays unchanged (L1)': {
    'inserts over an existing row': ({ store, runs }) => ({
      insert(run) {
        runs.delete(run);
        return store.insert(run);
      },
    }),
  },
  'of 50 simultaneous inserts of a new key, one wins (L-01)': {
    'reads first, and inserts later': ({ store, runs }) => ({
      async insert(run) {
        const isThere = runs.row(run) !== undefined;
        await Promise.resolve();
        if (isThere) return false;
        runs.delete(run);
        return await store.insert(run);
      },
    }),
  },
  'of 50 simultaneous inserts of ten new keys, one wins for each key (L-01)': {
    'returns true from every insert': ({ store }) => ({
      insert: (run) => store.insert(run).then(() => true),
    }),
  },
  'a skipped run is returned with its reason, and is not due (L7)': {
    'refuses skipped runs': rewriting('insert', ({ state }) =>
      state === 'skipped' ? { reason: undefined } : {},
    ),
  },
  'a run that starts at once is returned with its given values, as attempt 1 (L1)': {
    'counts attempts from 0': rewriting('insert', () => ({ attempt: 0 })),
  },
  'a pending run is returned without an attempt, and is due at once (L4)': {
    'inserts pending runs without a next attempt': rewriting('insert', () => ({ nextAttemptAt: undefined })),
  },
  'periods in the distant past, in the far future and between two seconds are returned exactly (L7)': {
    'keeps instants to the second': rewriting('insert', ({ periodStart }) => ({
      periodStart: periodStart && new Date(Math.trunc(periodStart.getTime() / 1000) * 1000),
    })),
  },
  'the largest fencing token is returned exactly, and a missing one stays missing (L1)': {
    'keeps tokens in single precision': rewriting('insert', ({ fencingToken }) => ({
      fencingToken: fencingToken === undefined ? undefined : Math.fround(fencingToken),
    })),
  },
  'the event of an insert is written with the row, at the store’s now (L-52)': {
    'leaves out the event of an insert': rewritingEvents('insert', () => []),
  },
  'an insert that is refused writes no event (L1)': {
    'writes the event of a refused insert': ({ store, runs }) => ({
      insert(run) {
        const { event } = run;
        if (event !== undefined) runs.row(run)?.events.push({ ...event, at: runs.now() });
        return store.insert(run);
      },
    }),
  },
};
