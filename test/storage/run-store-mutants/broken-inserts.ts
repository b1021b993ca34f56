import { rewriting, rewritingEvents, type BrokenRunStore } from './broken-run-store';

export const BROKEN_INSERTS: readonly BrokenRunStore[] = [
  {
    does: 'inserts nothing',
    caughtBy: 'L1 a fresh key is inserted, and is there for the other instance',
    breaks: () => ({ insert: () => Promise.resolve(true) }),
  },
  {
    does: 'inserts over a row that is there',
    caughtBy: 'L1 a key that is there is refused to both instances, and its row stays as it is',
    breaks: ({ store, runs }) => ({
      insert(run) {
        runs.delete(run);
        return store.insert(run);
      },
    }),
  },
  {
    does: 'looks first, and inserts later',
    caughtBy: 'L-01 of 50 that insert a fresh key at once, one wins',
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
    does: 'says of every insert that it won',
    caughtBy: 'L-01 of 50 that insert ten fresh keys at once, one wins each',
    breaks: ({ store }) => ({ insert: (run) => store.insert(run).then(() => true) }),
  },
  {
    does: 'refuses runs that are skipped',
    caughtBy: 'L7 a skipped run comes back with its reason, and is not due',
    breaks: rewriting('insert', ({ state }) => (state === 'skipped' ? { reason: undefined } : {})),
  },
  {
    does: 'counts attempts from 0',
    caughtBy: 'L1 a run that is started at once comes back as it was given, as attempt 1',
    breaks: rewriting('insert', () => ({ attempt: 0 })),
  },
  {
    does: 'has pending runs wait to be made due',
    caughtBy: 'L4 a pending run comes back without an attempt, due from now on',
    breaks: rewriting('insert', () => ({ nextAttemptAt: undefined })),
  },
  {
    does: 'keeps instants to the second',
    caughtBy: 'L7 periods of long ago, far ahead and between two seconds come back exactly',
    breaks: rewriting('insert', ({ periodStart }) => ({
      periodStart: periodStart && new Date(Math.trunc(periodStart.getTime() / 1000) * 1000),
    })),
  },
  {
    does: 'keeps tokens in a double of single precision',
    caughtBy: 'L1 the greatest fencing token comes back exactly, and none as none',
    breaks: rewriting('insert', ({ fencingToken }) => ({
      fencingToken: fencingToken === undefined ? undefined : Math.fround(fencingToken),
    })),
  },
  {
    does: 'leaves the event of an insert out',
    caughtBy: 'L-52 the event of an insert is written with the row, at the store’s now',
    breaks: rewritingEvents('insert', () => []),
  },
  {
    does: 'writes the event of an insert that it refuses',
    caughtBy: 'L1 an insert that is refused writes no event',
    breaks: ({ store, runs }) => ({
      insert(run) {
        const { event } = run;
        if (event !== undefined) runs.row(run)?.events.push({ ...event, at: runs.now() });
        return store.insert(run);
      },
    }),
  },
];
