import type { RunStore } from '#cronlatch/ledger/run-store';
import type { RunStoreMeans } from '../../support/run-store-contract/fixture';
import type { InMemoryRuns } from '#cronlatch/storage/memory/in-memory-runs';

/**
 * Ways in which the statements of a store could join the caller's transaction, and a case that must catch
 * each.
 */
export interface BrokenRunTransaction {
  readonly does: string;
  readonly caughtBy: string;
  /** @param inside the store as the caller of the transaction sees it, with methods that can be replaced */
  readonly run: (
    bench: { readonly inside: RunStore; readonly runs: InMemoryRuns },
    ...transaction: Parameters<RunStoreMeans['ambientTransaction']>
  ) => Promise<void>;
}

type Rows = ReturnType<InMemoryRuns['rows']>;

const copyOfRows = (runs: InMemoryRuns): Rows =>
  runs.rows().map(({ run, events }) => ({ run, events: [...events] }));

function putBack(runs: InMemoryRuns, rows: Rows): void {
  for (const { run } of runs.rows()) runs.delete(run);
  for (const row of rows) runs.add(row);
}

const STATEMENTS_THAT_WRITE = [
  ['insert', 'an insert inside a transaction that is rolled back stays, with its event (L-11)'],
  ['change', 'a change inside a transaction that is rolled back stays, with its events (L-11)'],
  ['complete', 'a completion inside a transaction that is rolled back stays (L-11)'],
  ['purge', 'a purge inside a transaction that is rolled back still deletes (L-11)'],
] as const;

export const BROKEN_TRANSACTIONS: readonly BrokenRunTransaction[] = [
  ...STATEMENTS_THAT_WRITE.map(([method, caughtBy]): BrokenRunTransaction => ({
    does: `rolls back a ${method} with the transaction of its caller`,
    caughtBy,
    async run({ inside, runs }, end, body) {
      let before: Rows | undefined;
      const act = inside[method].bind(inside) as (...args: unknown[]) => Promise<never>;
      inside[method] = (...args: unknown[]) => {
        before ??= copyOfRows(runs);
        return act(...args);
      };
      await body();
      inside[method] = act;
      if (end === 'rollback' && before !== undefined) putBack(runs, before);
    },
  })),
  {
    does: 'writes only when the transaction of its caller ends',
    caughtBy: 'other instances see a write inside a transaction at once (L-11)',
    async run({ inside }, _, body) {
      const insert = inside.insert.bind(inside);
      const later: (() => Promise<boolean>)[] = [];
      inside.insert = (...args) => {
        later.push(() => insert(...args));
        return Promise.resolve(true);
      };
      await body();
      inside.insert = insert;
      for (const act of later) await act();
    },
  },
  {
    does: 'reads the state from when the transaction of its caller began',
    caughtBy: 'a caller inside a transaction sees what was written after its transaction began (L-11)',
    async run({ inside }, _, body) {
      const overdue = inside.overdue.bind(inside);
      const before = await inside.overdue(['contract'], { timeoutMs: 1000 });
      inside.overdue = () => Promise.resolve(before);
      await body();
      inside.overdue = overdue;
    },
  },
];
