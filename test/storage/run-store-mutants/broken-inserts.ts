import { rewriting, rewritingEvents, type BrokenRunStore } from './broken-run-store';

export const BROKEN_INSERTS: readonly BrokenRunStore[] = [
  {
    does: 'inserts nothing',
    caughtBy: 'a new key is inserted, and the other instance finds it (L1)',
    breaks: () => ({ insert: () => Promise.resolve(true) }),
  },
  {
    does: 'inserts over an existing row',
    caughtBy: 'an existing key is refused to both instances, and its row stays unchanged (L1)',
    breaks: ({ store, runs }) => ({
      insert(run) {
        runs.delete(run);
        return store.insert(run);
      },
    }),
  },
  {
    does: 'reads first, and inserts later',
    caughtBy: 'of 50 simultaneous inserts of a new key, one wins (L-01)',
    breaks: ({ store, runs }) => ({
      async insert(run) {
        const isThere = runs.row(run) !== undefined;
        await Promise.resolve();
        if (isThere) return false;
        runs.delete(run);
        return await store.insert(run);
      },
    }),
  },
  {
    does: 'returns true from every insert',
    caughtBy: 'of 50 simultaneous inserts of ten new keys, one wins for each key (L-01)',
    breaks: ({ store }) => ({ insert: (run) => store.insert(run).then(() => true) }),
  },
  {
    does: 'refuses skipped runs',
    caughtBy: 'a skipped run is returned with its reason, and is not due (L7)',
    breaks: rewriting('insert', ({ state }) => (state === 'skipped' ? { reason: undefined } : {})),
  },
  {
    does: 'counts attempts from 0',
    caughtBy: 'a run that starts at once is returned with its given values, as attempt 1 (L1)',
    breaks: rewriting('insert', () => ({ attempt: 0 })),
  },
  {
    does: 'inserts pending runs without a next attempt',
    caughtBy: 'a pending run is returned without an attempt, and is due at once (L4)',
    breaks: rewriting('insert', () => ({ nextAttemptAt: undefined })),
  },
  {
    does: 'keeps instants to the second',
    caughtBy:
      'periods in the distant past, in the far future and between two seconds are returned exactly (L7)',
    breaks: rewriting('insert', ({ periodStart }) => ({
      periodStart: periodStart && new Date(Math.trunc(periodStart.getTime() / 1000) * 1000),
    })),
  },
  {
    does: 'keeps tokens in single precision',
    caughtBy: 'the largest fencing token is returned exactly, and a missing one stays missing (L1)',
    breaks: rewriting('insert', ({ fencingToken }) => ({
      fencingToken: fencingToken === undefined ? undefined : Math.fround(fencingToken),
    })),
  },
  {
    does: 'leaves out the event of an insert',
    caughtBy: 'the event of an insert is written with the row, at the store’s now (L-52)',
    breaks: rewritingEvents('insert', () => []),
  },
  {
    does: 'writes the event of a refused insert',
    caughtBy: 'an insert that is refused writes no event (L1)',
    breaks: ({ store, runs }) => ({
      insert(run) {
        const { event } = run;
        if (event !== undefined) runs.row(run)?.events.push({ ...event, at: runs.now() });
        return store.insert(run);
      },
    }),
  },
];
