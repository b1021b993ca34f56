import type { SettableClock } from 'cronlatch/testing';
import type { Run, RunEvent, RunKey } from '#cronlatch/ledger/run';
import type { RunStore } from '#cronlatch/ledger/run-store';
import type { InMemoryRuns } from '#cronlatch/storage/memory/in-memory-runs';
import type { InMemoryRunStore } from '#cronlatch/storage/memory/in-memory-run-store';

/** A mistake of a store of runs. */
export type BrokenRunStore = (bench: ReplicatedBench) => Partial<RunStore>;

/** A mistake in the tables below a store. */
export type BrokenRuns = (bench: Omit<Bench, 'store'>) => Partial<InMemoryRuns>;

export interface Bench {
  readonly store: InMemoryRunStore;
  readonly runs: InMemoryRuns;
  readonly clock: SettableClock;
}

interface ReplicatedBench extends Bench {
  /** What a replica returns: once its reads are stale, the row as it was then. */
  readonly plainRead: (key: RunKey) => Run | undefined;
}

type Row = NonNullable<ReturnType<InMemoryRuns['row']>>;

/** A store that changes the row after a successful call. */
export function rewriting(
  method: 'insert' | 'change' | 'complete',
  rewrite: (run: Run, before: Run | undefined, now: Date) => Partial<Run>,
) {
  return ({ store, runs }: Bench): Partial<RunStore> =>
    afterCalls(store, runs, method, (row, before) => {
      if (row !== undefined && row.run !== before)
        row.run = { ...row.run, ...rewrite(row.run, before, runs.now()) };
    });
}

/** A store that changes the events after a successful call. */
export function rewritingEvents(
  method: 'insert' | 'change' | 'complete',
  rewrite: (events: readonly RunEvent[], before: readonly RunEvent[]) => readonly RunEvent[],
) {
  return ({ store, runs }: Bench): Partial<RunStore> =>
    afterCalls(store, runs, method, (row, _, before) => {
      row?.events.splice(0, Infinity, ...rewrite(row.events, before));
    });
}

function afterCalls(
  store: InMemoryRunStore,
  runs: InMemoryRuns,
  method: 'insert' | 'change' | 'complete',
  then: (row: Row | undefined, before: Run | undefined, eventsBefore: readonly RunEvent[]) => void,
): Partial<RunStore> {
  const act = store[method].bind(store) as (key: Run, ...rest: unknown[]) => Promise<never>;
  return {
    [method](key: Run, ...rest: unknown[]) {
      const { run: before, events = [] } = runs.row(key) ?? {};
      const eventsBefore = [...events];
      // The store acts before it returns, so no other call comes in between.
      const acted = act(key, ...rest);
      then(runs.row(key), before, eventsBefore);
      return acted;
    },
  };
}
