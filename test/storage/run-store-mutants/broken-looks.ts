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
    caughtBy: 'L3 a peek at a period returns its run in any state',
    breaks: peekingOnly(({ state }) => state !== 'interrupted'),
  },
  {
    does: 'returns runs that failed permanently',
    caughtBy: 'L4 a peek returns due and running runs of any period, and no others',
    breaks: changingPeek(({ runs }, _, bench) => ({
      runs: [
        ...runs,
        ...bench.runs.rows().flatMap(({ run }) => (run.periodKey === 'failed permanently' ? run : [])),
      ],
    })),
  },
  {
    does: 'does not return failed runs that are due',
    caughtBy: 'L-26 a pending or failed run is due at its next attempt, not before',
    breaks: peekingOnly(({ state }) => state !== 'failed'),
  },
  {
    does: 'peeks at all jobs',
    caughtBy: 'L4 a peek does not return runs of another job or scope',
    breaks: changingPeek((_, __, { runs }) => ({ runs: runs.rows().map(({ run }) => run) })),
  },
  {
    does: 'excludes the period that starts exactly at since',
    caughtBy: 'L-46 a peek returns every run whose period starts at the given time or later',
    breaks: peekingOnly(
      ({ periodStart, state }, _, { since }) =>
        state !== 'skipped' || since === undefined || periodStart === undefined || periodStart > since,
    ),
  },
  {
    does: 'returns the first period at or after since',
    caughtBy: 'L-48 a peek returns the start of the earliest period, regardless of its outcome',
    breaks: changingPeek(({ firstPeriodStart }, { since }) => ({
      firstPeriodStart:
        since !== undefined && firstPeriodStart !== undefined && firstPeriodStart < since
          ? since
          : firstPeriodStart,
    })),
  },
  {
    does: 'returns a run once for each condition that it matches',
    caughtBy: 'L4 a run that matches several conditions of a peek is returned once',
    breaks: changingPeek(({ runs }, { periodKey }) => ({
      runs: [...runs, ...runs.filter((run) => run.periodKey === periodKey)],
    })),
  },
  {
    does: 'leaves out a field',
    caughtBy: 'L4 a peek returns the values of the row',
    breaks: changingPeek(({ runs }) => ({
      runs: runs.map((run) => ({ ...run, firstStartedAt: undefined })),
    })),
  },
  {
    does: 'returns an overdue job without runs',
    caughtBy: 'L4 without runs, no job is overdue',
    breaks: ({ store }) => ({
      async overdue(jobs) {
        const overdue = await store.overdue(jobs);
        return overdue.length > 0 ? overdue : [{ job: 'contract', scope: '' }];
      },
    }),
  },
  {
    does: 'does not return running runs as overdue',
    caughtBy: 'L4 due and running runs count as overdue, and no others',
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
    caughtBy: 'L4 each job and scope is returned once, regardless of how many of its runs are overdue',
    breaks: ({ store }) => ({
      overdue: async (jobs) => (await store.overdue(jobs)).flatMap((overdue) => [overdue, overdue]),
    }),
  },
  {
    does: 'returns overdue runs of every job',
    caughtBy: 'L4 overdue runs of other jobs are not returned',
    breaks: ({ store, runs }) => ({
      overdue: () => store.overdue(runs.rows().map(({ run }) => run.job)),
    }),
  },
  {
    does: 'returns the newest first',
    caughtBy: 'L4 the run that has been due or running for the longest time comes first',
    breaks: ({ store }) => ({ overdue: async (jobs) => [...(await store.overdue(jobs))].reverse() }),
  },
  {
    does: 'leaves out the last overdue job',
    caughtBy: 'L3 random use by two instances gives the results that a model predicts',
    breaks: ({ store }) => ({ overdue: async (jobs) => (await store.overdue(jobs)).slice(0, -1) }),
  },
];
