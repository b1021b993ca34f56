import type { RunSummary } from '#cronlatch/ledger/run';
import type { Peek, PeekRequest } from '#cronlatch/ledger/run-store';
import type { Bench, BrokenRunStore } from './broken-run-store';

/** Peeks correctly, and changes the result. */
function changingPeek(change: (peek: Peek, request: PeekRequest, bench: Bench) => Partial<Peek>) {
  return (bench: Bench): Pick<Bench['store'], 'peek'> => ({
    async peek(request) {
      const peek = await bench.store.peek(request);
      return { ...peek, ...change(peek, request, bench) };
    },
  });
}

function peekingOnly(isReturned: (run: RunSummary, peek: Peek, request: PeekRequest) => boolean) {
  return changingPeek((peek, request) => ({
    runs: peek.runs.filter((run) => isReturned(run, peek, request)),
  }));
}

export const BROKEN_PEEKS: readonly BrokenRunStore[] = [
  {
    does: 'returns only completed runs',
    caughtBy: 'a peek at a period returns its run in any state (L3)',
    breaks: peekingOnly(({ state }) => state !== 'interrupted'),
  },
  {
    does: 'returns runs that failed permanently',
    caughtBy: 'a peek returns due and running runs of any period, and no others (L4)',
    breaks: changingPeek(({ runs }, _, bench) => ({
      runs: [
        ...runs,
        ...bench.runs.rows().flatMap(({ run }) => (run.periodKey === 'failed permanently' ? run : [])),
      ],
    })),
  },
  {
    does: 'does not return failed runs that are due',
    caughtBy: 'a pending or failed run is due at its next attempt, not before (L-26)',
    breaks: peekingOnly(({ state }) => state !== 'failed'),
  },
  {
    does: 'peeks at all jobs',
    caughtBy: 'a peek does not return runs of another job or scope (L4)',
    breaks: changingPeek((_, __, { runs }) => ({ runs: runs.rows().map(({ run }) => run) })),
  },
  {
    does: 'excludes the period that starts exactly at since',
    caughtBy: 'a peek returns every run whose period starts at the given time or later (L-46)',
    breaks: peekingOnly(
      ({ periodStart, state }, _, { since }) =>
        state !== 'skipped' || since === undefined || periodStart === undefined || periodStart > since,
    ),
  },
  {
    does: 'returns the first period at or after since',
    caughtBy: 'a peek returns the start of the earliest period, regardless of its outcome (L-48)',
    breaks: changingPeek(({ firstPeriodStart }, { since }) => ({
      firstPeriodStart:
        since !== undefined && firstPeriodStart !== undefined && firstPeriodStart < since
          ? since
          : firstPeriodStart,
    })),
  },
  {
    does: 'returns a run once for each condition that it matches',
    caughtBy: 'a run that matches several conditions of a peek is returned once (L4)',
    breaks: changingPeek(({ runs }, { periodKey }) => ({
      runs: [...runs, ...runs.filter((run) => run.periodKey === periodKey)],
    })),
  },
  {
    does: 'leaves out a field',
    caughtBy: 'a peek returns the values of the row (L4)',
    breaks: changingPeek(({ runs }) => ({
      runs: runs.map((run) => ({ ...run, firstStartedAt: undefined })),
    })),
  },
  {
    does: 'returns an overdue job without runs',
    caughtBy: 'without runs, no job is overdue (L4)',
    breaks: ({ store }) => ({
      async overdue(jobs) {
        const overdue = await store.overdue(jobs);
        return overdue.length > 0 ? overdue : [{ job: 'contract', scope: '' }];
      },
    }),
  },
  {
    does: 'does not return running runs as overdue',
    caughtBy: 'due and running runs count as overdue, and no others (L4)',
    breaks: ({ store, runs }) => ({
      async overdue(jobs) {
        const running = runs.rows().filter(({ run }) => run.state === 'running');
        const isRunning = ({ scope }: { readonly scope: string }): boolean =>
          running.some(({ run }) => run.scope === scope);
        return (await store.overdue(jobs)).filter((overdue) => !isRunning(overdue));
      },
    }),
  },
  {
    does: 'returns a job and scope once for each overdue run',
    caughtBy: 'each job and scope is returned once, regardless of how many of its runs are overdue (L4)',
    breaks: ({ store }) => ({
      overdue: async (jobs) => (await store.overdue(jobs)).flatMap((overdue) => [overdue, overdue]),
    }),
  },
  {
    does: 'returns overdue runs of every job',
    caughtBy: 'overdue runs of other jobs are not returned (L4)',
    breaks: ({ store, runs }) => ({
      overdue: () => store.overdue(runs.rows().map(({ run }) => run.job)),
    }),
  },
  {
    does: 'returns the newest first',
    caughtBy: 'the run that has been due or running for the longest time comes first (L4)',
    breaks: ({ store }) => ({ overdue: async (jobs) => [...(await store.overdue(jobs))].reverse() }),
  },
  {
    does: 'leaves out the last overdue job',
    caughtBy: 'random use by two instances gives the results that a model predicts (L3)',
    breaks: ({ store }) => ({ overdue: async (jobs) => (await store.overdue(jobs)).slice(0, -1) }),
  },
];
