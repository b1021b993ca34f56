import type { RunSummary } from '#cronlatch/ledger/run';
import type { Peek, PeekRequest } from '#cronlatch/ledger/run-store';
import type { Bench, BrokenRunStore } from './broken-run-store';

/** Looks rightly, and tells something else. */
function telling(change: (peek: Peek, request: PeekRequest, bench: Bench) => Partial<Peek>) {
  return (bench: Bench): Pick<Bench['store'], 'peek'> => ({
    async peek(request) {
      const peek = await bench.store.peek(request);
      return { ...peek, ...change(peek, request, bench) };
    },
  });
}

function tellingOnly(isTold: (run: RunSummary, peek: Peek, request: PeekRequest) => boolean) {
  return telling((peek, request) => ({ runs: peek.runs.filter((run) => isTold(run, peek, request)) }));
}

export const BROKEN_LOOKS: readonly BrokenRunStore[] = [
  {
    does: 'tells a completed run only',
    caughtBy: 'L3 the run that is asked about is told, whatever its state',
    breaks: tellingOnly(({ state }) => state !== 'interrupted'),
  },
  {
    does: 'tells what failed for good',
    caughtBy: 'L4 what is due and what runs is told, unasked, and nothing else',
    breaks: telling(({ runs }, _, bench) => ({
      runs: [
        ...runs,
        ...bench.runs.rows().flatMap(({ run }) => (run.periodKey === 'failed for good' ? run : [])),
      ],
    })),
  },
  {
    does: 'finds nothing due that has failed',
    caughtBy: 'L-26 a pending or failed run is due when its time has come, not before',
    breaks: tellingOnly(({ state }) => state !== 'failed'),
  },
  {
    does: 'looks at all jobs',
    caughtBy: 'L4 runs of another job or scope are not told',
    breaks: telling((_, __, { runs }) => ({ runs: runs.rows().map(({ run }) => run) })),
  },
  {
    does: 'tells what began after the window’s beginning, not at it',
    caughtBy: 'L-46 every run whose period begins then or later is told',
    breaks: tellingOnly(
      ({ periodStart, state }, _, { since }) =>
        state !== 'skipped' || since === undefined || periodStart === undefined || periodStart > since,
    ),
  },
  {
    does: 'tells the first period of the window',
    caughtBy: 'L-48 the beginning of the earliest period is told, whatever became of it',
    breaks: telling(({ firstPeriodStart }, { since }) => ({
      firstPeriodStart:
        since !== undefined && firstPeriodStart !== undefined && firstPeriodStart < since
          ? since
          : firstPeriodStart,
    })),
  },
  {
    does: 'tells a run as often as there is a reason to',
    caughtBy: 'L4 a run that is asked about, due and in the window is told once',
    breaks: telling(({ runs }, { periodKey }) => ({
      runs: [...runs, ...runs.filter((run) => run.periodKey === periodKey)],
    })),
  },
  {
    does: 'leaves a field out of what it tells',
    caughtBy: 'L4 what is told of a run is what stands in its row',
    breaks: telling(({ runs }) => ({ runs: runs.map((run) => ({ ...run, firstStartedAt: undefined })) })),
  },
  {
    does: 'owes a run where there is none',
    caughtBy: 'L4 where there are no runs, nothing is owed',
    breaks: ({ store }) => ({
      async owed(jobs) {
        const owed = await store.owed(jobs);
        return owed.length > 0 ? owed : [{ job: 'contract', scope: '' }];
      },
    }),
  },
  {
    does: 'owes nothing that runs',
    caughtBy: 'L4 what is due and what runs is owed, and nothing else',
    breaks: ({ store, runs }) => ({
      async owed(jobs) {
        const running = runs.rows().filter(({ run }) => run.state === 'running');
        const isRunning = ({ scope }: { readonly scope: string }): boolean =>
          running.some(({ run }) => run.scope === scope);
        return (await store.owed(jobs)).filter((owed) => !isRunning(owed));
      },
    }),
  },
  {
    does: 'owes a job and scope for each of its runs',
    caughtBy: 'L4 each job and scope is owed once, however many of its runs wait',
    breaks: ({ store }) => ({
      owed: async (jobs) => (await store.owed(jobs)).flatMap((owed) => [owed, owed]),
    }),
  },
  {
    does: 'owes the runs of every job',
    caughtBy: 'L4 of jobs that were not asked for nothing is told',
    breaks: ({ store, runs }) => ({
      owed: () => store.owed(runs.rows().map(({ run }) => run.job)),
    }),
  },
  {
    does: 'owes the newest first',
    caughtBy: 'L4 what has been due, or has run, for the longest time comes first',
    breaks: ({ store }) => ({ owed: async (jobs) => [...(await store.owed(jobs))].reverse() }),
  },
  {
    does: 'owes all but the last',
    caughtBy: 'L3 random use by two instances goes as a model says',
    breaks: ({ store }) => ({ owed: async (jobs) => (await store.owed(jobs)).slice(0, -1) }),
  },
];
