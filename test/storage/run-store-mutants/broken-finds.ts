import type { Run, RunSummary } from '#cronlatch/ledger/run';
import type { RunQuery, RunStore } from '#cronlatch/ledger/run-store';
import { rewritingEvents, type Bench, type BrokenRunStore } from './broken-run-store';
import type { Mutants } from '../contract-mutants/overlay';

/** Queries with changed conditions. */
function querying(change: (query: RunQuery) => Partial<RunQuery>) {
  return ({ store }: Bench): Pick<Bench['store'], 'find'> => ({
    find: (query) => store.find({ ...query, ...change(query) }),
  });
}

/** Queries correctly, and changes the result. */
function changingResult(change: (runs: readonly Run[], query: RunQuery, bench: Bench) => readonly Run[]) {
  return (bench: Bench): Pick<Bench['store'], 'find'> => ({
    find: async (query) => change(await bench.store.find(query), query, bench),
  });
}

/** An overview of all runs, in the order of their creation. */
function overview(choose: (all: readonly Run[]) => readonly RunSummary[]) {
  return ({ runs }: Bench): Pick<RunStore, 'latest'> => ({
    latest: () => Promise.resolve(choose(runs.rows().map(({ run }) => run))),
  });
}

export const BROKEN_FINDS: Mutants<BrokenRunStore> = {
  'a query without conditions finds every run, and none if there are none (L7)': {
    'finds nothing without a condition': changingResult(
      (runs, { job, scope, periodKey, states, from, to }) =>
        [job, scope, periodKey, states, from, to].every((condition) => condition === undefined) ? [] : runs,
    ),
  },
  'runs are found by job, by scope, by period and by all of them (L7)': {
    'treats an empty scope as any scope': querying(({ scope }) => ({
      scope: scope === '' ? undefined : scope,
    })),
  },
  'runs are found by one state, by several states, and by no state (L7)': {
    'treats an empty list of states as any state': querying(({ states }) => ({
      states: states?.length === 0 ? undefined : states,
    })),
  },
  'from includes the start of a period, and to excludes it (L7)': {
    'includes a period that starts at to': querying(({ to }) => ({ to: to && new Date(to.getTime() + 1) })),
  },
  'a query returns only runs that match all its conditions (L7)': {
    'ignores the states if from is set': querying(({ from, states }) => ({
      states: from === undefined ? states : undefined,
    })),
  },
  'runs are sorted by period, in either order, and the limit keeps the first (L7)': {
    'applies the limit to the wrong end': ({ store }) => ({
      find: async ({ limit, ...query }) => (await store.find({ ...query, limit: 1000 })).slice(-limit),
    }),
  },
  'custom keys are sorted by creation, and a query by time does not find them (L7)': {
    'sorts by the key': changingResult((runs) =>
      [...runs].sort((a, b) => a.periodKey.localeCompare(b.periodKey)),
    ),
  },
  'a query returns the whole run (L7)': {
    'returns summaries': changingResult((runs) => runs.map((run) => ({ ...run, result: undefined }))),
  },
  'a query for one key does not return another (L-57)': {
    'ignores case in a query for a period': changingResult((runs, { periodKey }, bench) =>
      periodKey === undefined
        ? runs
        : bench.runs
            .rows()
            .map(({ run }) => run)
            .filter((run) => run.periodKey.toLowerCase() === periodKey.toLowerCase()),
    ),
  },
  'the latest runs are those of the newest period of each job and scope (L7)': {
    'returns the oldest run of each job and scope as the latest': overview((all) =>
      all.filter((run) => all.find(({ job, scope }) => job === run.job && scope === run.scope) === run),
    ),
  },
  'a run with a period is newer than one without, and else the last one is (L7)': {
    'returns the run that was created last as the latest': overview((all) =>
      all.filter((run) => all.findLast(({ job, scope }) => job === run.job && scope === run.scope) === run),
    ),
  },
  'the latest runs include those that are running or interrupted (L7)': {
    'returns only the newest runs as the latest': ({ store }) => ({
      latest: async () => (await store.latest()).filter(({ periodStart }) => periodStart !== undefined),
    }),
  },
  'a latest run has the beginning of its error, and no result (L7)': {
    'returns whole runs as the latest': overview((all) => all),
  },
  'summaries are the runs of the given jobs in a period, the newest period first (L7)': {
    'ignores the jobs in a query for summaries': ({ store, runs }) => ({
      summaries: (query) => store.summaries({ ...query, jobs: runs.rows().map(({ run }) => run.job) }),
    }),
  },
  'a summary has neither a result nor an error (L7)': {
    'returns whole runs as summaries': ({ store }) => ({
      summaries: ({ from, to, limit }) => store.find({ from, to, limit, order: 'newest-first' }),
    }),
  },
  'runs of the given jobs are counted by state and quarter of an hour, the newest first (L7)': {
    'ignores the jobs in a query for counts': ({ store, runs }) => ({
      counts: (query) => store.counts({ ...query, jobs: runs.rows().map(({ run }) => run.job) }),
    }),
    'counts a run that begins at to': ({ store }) => ({
      counts: ({ to, ...query }) => store.counts({ ...query, to: new Date(Number(to) + 1) }),
    }),
    'returns the oldest counts first': ({ store }) => ({
      counts: async (query) => (await store.counts(query)).toReversed(),
    }),
    'returns a mean of 0 for runs without durations': ({ store }) => ({
      counts: async (query) =>
        (await store.counts(query)).map((each) => ({ ...each, meanMs: each.meanMs ?? 0 })),
    }),
  },
  'a count of runs before 1970 has the start of its quarter, too (L7)': {
    'rounds instants toward 1970': ({ store }) => ({
      counts: async (query) =>
        (await store.counts(query)).map((each) => ({
          ...each,
          start: new Date(Number(each.start) + 900_000),
        })),
    }),
  },
  'the runs of each job since its own start are returned, without result and error (L7)': {
    'returns the runs of each job since the earliest start': ({ store }) => ({
      since(starts) {
        const earliest = new Date(Math.min(...[...starts.values()].map(Number)));
        return store.since(new Map([...starts.keys()].map((job) => [job, earliest])));
      },
    }),
    'leaves out a run that begins at the start': ({ store }) => ({
      since: (starts) =>
        store.since(new Map([...starts].map(([job, at]) => [job, new Date(Number(at) + 1)]))),
    }),
    'returns runs of other jobs': ({ store, runs }) => ({
      since: async (starts) => {
        const others = runs.rows().filter(({ run }) => !starts.has(run.job));
        const all = others.map(({ run }) => [run.job, run.periodStart ?? new Date(0)] as const);
        return await store.since(starts.size === 0 ? starts : new Map([...all, ...starts]));
      },
    }),
    'returns whole runs': ({ store, runs }) => ({
      since: async (starts) => {
        const found = await store.since(starts);
        return found.map((run) => runs.row(run)?.run ?? run);
      },
    }),
  },
  'a run without events has none, and neither has a run that does not exist (L-52)': {
    'returns an event for every run': ({ store, runs }) => ({
      async events(key) {
        const events = await store.events(key);
        const of = { generation: 0, attempt: 0, actor: 'store', fencingToken: undefined, detail: undefined };
        return events.length > 0 ? events : [{ ...of, kind: 'rerun', at: runs.now() }];
      },
    }),
  },
  'events belong to their run alone (L-52)': {
    'returns the events of every run of the period': ({ runs }) => ({
      events: ({ periodKey }) =>
        Promise.resolve(
          runs
            .rows()
            .filter(({ run }) => run.periodKey === periodKey)
            .flatMap(({ events }) => events),
        ),
    }),
  },
  'a completion writes the result and the end, clears the earlier error, and keeps the other fields (L3)': {
    'writes an event for every completion': rewritingEvents('complete', (events) => [
      ...events,
      {
        ...{ at: new Date(), generation: 0, attempt: 1, kind: 'completed-late', actor: 'store' },
        ...{ fencingToken: undefined, detail: undefined },
      } as const,
    ]),
  },
};
