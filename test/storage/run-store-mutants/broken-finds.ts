import type { Run, RunSummary } from '#cronlatch/ledger/run';
import type { RunQuery, RunStore } from '#cronlatch/ledger/run-store';
import { rewritingEvents, type Bench, type BrokenRunStore } from './broken-run-store';

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

export const BROKEN_FINDS: readonly BrokenRunStore[] = [
  {
    does: 'finds nothing without a condition',
    caughtBy: 'a query without conditions finds every run, and none if there are none (L7)',
    breaks: changingResult((runs, { job, scope, periodKey, states, from, to }) =>
      [job, scope, periodKey, states, from, to].every((condition) => condition === undefined) ? [] : runs,
    ),
  },
  {
    does: 'treats an empty scope as any scope',
    caughtBy: 'runs are found by job, by scope, by period and by all of them (L7)',
    breaks: querying(({ scope }) => ({ scope: scope === '' ? undefined : scope })),
  },
  {
    does: 'treats an empty list of states as any state',
    caughtBy: 'runs are found by one state, by several states, and by no state (L7)',
    breaks: querying(({ states }) => ({ states: states?.length === 0 ? undefined : states })),
  },
  {
    does: 'includes a period that starts at to',
    caughtBy: 'from includes the start of a period, and to excludes it (L7)',
    breaks: querying(({ to }) => ({ to: to && new Date(to.getTime() + 1) })),
  },
  {
    does: 'ignores the states if from is set',
    caughtBy: 'a query returns only runs that match all its conditions (L7)',
    breaks: querying(({ from, states }) => ({ states: from === undefined ? states : undefined })),
  },
  {
    does: 'applies the limit to the wrong end',
    caughtBy: 'runs are sorted by period, in either order, and the limit keeps the first (L7)',
    breaks: ({ store }) => ({
      find: async ({ limit, ...query }) => (await store.find({ ...query, limit: 1000 })).slice(-limit),
    }),
  },
  {
    does: 'sorts by the key',
    caughtBy: 'custom keys are sorted by creation, and a query by time does not find them (L7)',
    breaks: changingResult((runs) => [...runs].sort((a, b) => a.periodKey.localeCompare(b.periodKey))),
  },
  {
    does: 'returns summaries',
    caughtBy: 'a query returns the whole run (L7)',
    breaks: changingResult((runs) => runs.map((run) => ({ ...run, result: undefined }))),
  },
  {
    does: 'ignores case in a query for a period',
    caughtBy: 'a query for one key does not return another (L-57)',
    breaks: changingResult((runs, { periodKey }, bench) =>
      periodKey === undefined
        ? runs
        : bench.runs
            .rows()
            .map(({ run }) => run)
            .filter((run) => run.periodKey.toLowerCase() === periodKey.toLowerCase()),
    ),
  },
  {
    does: 'returns the oldest run of each job and scope as the latest',
    caughtBy: 'the latest runs are those of the newest period of each job and scope (L7)',
    breaks: overview((all) =>
      all.filter((run) => all.find(({ job, scope }) => job === run.job && scope === run.scope) === run),
    ),
  },
  {
    does: 'returns the run that was created last as the latest',
    caughtBy: 'a run with a period is newer than one without, and else the last one is (L7)',
    breaks: overview((all) =>
      all.filter((run) => all.findLast(({ job, scope }) => job === run.job && scope === run.scope) === run),
    ),
  },
  {
    does: 'returns only the newest runs as the latest',
    caughtBy: 'the latest runs include those that are running or interrupted (L7)',
    breaks: ({ store }) => ({
      latest: async () => (await store.latest()).filter(({ periodStart }) => periodStart !== undefined),
    }),
  },
  {
    does: 'returns whole runs as the latest',
    caughtBy: 'a latest run has the beginning of its error, and no result (L7)',
    breaks: overview((all) => all),
  },
  {
    does: 'ignores the jobs in a query for summaries',
    caughtBy: 'summaries are the runs of the given jobs in a period, the newest period first (L7)',
    breaks: ({ store, runs }) => ({
      summaries: (query) => store.summaries({ ...query, jobs: runs.rows().map(({ run }) => run.job) }),
    }),
  },
  {
    does: 'returns whole runs as summaries',
    caughtBy: 'a summary has neither a result nor an error (L7)',
    breaks: ({ store }) => ({
      summaries: ({ from, to, limit }) => store.find({ from, to, limit, order: 'newest-first' }),
    }),
  },
  {
    does: 'returns an event for every run',
    caughtBy: 'a run without events has none, and neither has a run that does not exist (L-52)',
    breaks: ({ store, runs }) => ({
      async events(key) {
        const events = await store.events(key);
        const of = { generation: 0, attempt: 0, actor: 'store', fencingToken: undefined, detail: undefined };
        return events.length > 0 ? events : [{ ...of, kind: 'rerun', at: runs.now() }];
      },
    }),
  },
  {
    does: 'returns the events of every run of the period',
    caughtBy: 'events belong to their run alone (L-52)',
    breaks: ({ runs }) => ({
      events: ({ periodKey }) =>
        Promise.resolve(
          runs
            .rows()
            .filter(({ run }) => run.periodKey === periodKey)
            .flatMap(({ events }) => events),
        ),
    }),
  },
  {
    does: 'writes an event for every completion',
    caughtBy:
      'a completion writes the result and the end, clears the earlier failure, and keeps the other fields (L3)',
    breaks: rewritingEvents('complete', (events) => [
      ...events,
      {
        ...{ at: new Date(), generation: 0, attempt: 1, kind: 'completed-late', actor: 'store' },
        ...{ fencingToken: undefined, detail: undefined },
      } as const,
    ]),
  },
];
