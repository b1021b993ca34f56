import type { RunSummary } from '#cronlatch/ledger/run';
import type { Peek, PeekRequest } from '#cronlatch/ledger/run-store';
import type { Bench, BrokenRunStore } from './broken-run-store';
import type { Mutants } from '../contract-mutants/overlay';

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

export const BROKEN_PEEKS: Mutants<BrokenRunStore> = {
  'a peek at a period returns its run in any state (L3)': {
    'returns only completed runs': peekingOnly(({ state }) => state !== 'interrupted'),
  },
  'a peek returns due and running runs of any period, and no others (L4)': {
    'returns runs that failed permanently': changingPeek(({ runs }, _, bench) => ({
      runs: [
        ...runs,
        ...bench.runs.rows().flatMap(({ run }) => (run.periodKey === 'failed permanently' ? run : [])),
      ],
    })),
  },
  'a pending or failed run is due at its next attempt, not before (L-26)': {
    'does not return failed runs that are due': peekingOnly(({ state }) => state !== 'failed'),
  },
  'a peek does not return runs of another job or scope (L4)': {
    'peeks at all jobs': changingPeek((_, __, { runs }) => ({ runs: runs.rows().map(({ run }) => run) })),
  },
  'a peek returns every run whose period starts at the given time or later (L-46)': {
    'excludes the period that starts exactly at since': peekingOnly(
      ({ periodStart, state }, _, { since }) =>
        state !== 'skipped' || since === undefined || periodStart === undefined || periodStart > since,
    ),
  },
  'a peek returns the start of the earliest period, regardless of its outcome (L-48)': {
    'returns the first period at or after since': changingPeek(({ firstPeriodStart }, { since }) => ({
      firstPeriodStart:
        since !== undefined && firstPeriodStart !== undefined && firstPeriodStart < since
          ? since
          : firstPeriodStart,
    })),
  },
  'a run that matches several conditions of a peek is returned once (L4)': {
    'returns a run once for each condition that it matches': changingPeek(({ runs }, { periodKey }) => ({
      runs: [...runs, ...runs.filter((run) => run.periodKey === periodKey)],
    })),
  },
  'a peek returns the values of the row (L4)': {
    'leaves out a field': changingPeek(({ runs }) => ({
      runs: runs.map((run) => ({ ...run, firstStartedAt: undefined })),
    })),
  },
  'without runs, no job is overdue (L4)': {
    'returns an overdue job without runs': ({ store }) => ({
      async overdue(jobs) {
        const overdue = await store.overdue(jobs);
        return overdue.length > 0 ? overdue : [{ job: 'contract', scope: '' }];
      },
    }),
  },
  'due and running runs count as overdue, and no others (L4)': {
    'does not return running runs as overdue': ({ store, runs }) => ({
      async overdue(jobs) {
        const running = runs.rows().filter(({ run }) => run.state === 'running');
        const isRunning = ({ scope }: { readonly scope: string }): boolean =>
          running.some(({ run }) => run.scope === scope);
        return (await store.overdue(jobs)).filter((overdue) => !isRunning(overdue));
      },
    }),
  },
  'each job and scope is returned once, regardless of how many of its runs are overdue (L4)': {
    'returns a job and scope once for each overdue run': ({ store }) => ({
      overdue: async (jobs) => (await store.overdue(jobs)).flatMap((overdue) => [overdue, overdue]),
    }),
  },
  'overdue runs of other jobs are not returned (L4)': {
    'returns overdue runs of every job': ({ store, runs }) => ({
      overdue: () => store.overdue(runs.rows().map(({ run }) => run.job)),
    }),
  },
  'the run that has been due or running for the longest time comes first (L4)': {
    'returns the newest first': ({ store }) => ({
      overdue: async (jobs) => [...(await store.overdue(jobs))].reverse(),
    }),
  },
  'random use by two instances gives the results that a model predicts (L3)': {
    'leaves out the last overdue job': ({ store }) => ({
      overdue: async (jobs) => (await store.overdue(jobs)).slice(0, -1),
    }),
  },
};
