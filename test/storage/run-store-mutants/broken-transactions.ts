import type { RunStore } from '#cronlatch/ledger/run-store';
import type { RunStoreMeans } from '../../support/run-store-contract/fixture';
import type { Mutants } from '../contract-mutants/overlay';
import type { InMemoryRuns } from '#cronlatch/storage/memory/in-memory-runs';

/**
 * Lets the statements of a store join the transaction of its caller.
 *
 * @param inside the store as the caller of the transaction sees it, with methods that can be replaced
 */
type BrokenRunTransaction = (
  bench: { readonly inside: RunStore; readonly runs: InMemoryRuns },
  ...transaction: Parameters<RunStoreMeans['ambientTransaction']>
) => Promise<void>;

type Rows = ReturnType<InMemoryRuns['rows']>;

const copyOfRows = (runs: InMemoryRuns): Rows =>
  runs.rows().map(({ run, events }) => ({ run, events: [...events] }));

function putBack(runs: InMemoryRuns, rows: Rows): void {
  for (const { run } of runs.rows()) runs.delete(run);
  for (const row of rows) runs.add(row);
}

export const BROKEN_TRANSACTIONS: Mutants<BrokenRunTransaction> = {
  'other instances see a write inside a transaction at once (L-11)': {
    async 'writes only when the transaction of its caller ends'({ inside }, _, body) {
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
  'a caller inside a transaction sees what was written after its transaction began (L-11)': {
    async 'reads the state from when the transaction of its caller began'({ inside }, _, body) {
      const overdue = inside.overdue.bind(inside);
      const before = await inside.overdue(['contract'], { timeoutMs: 1000 });
      inside.overdue = () => Promise.resolve(before);
      await body();
      inside.overdue = overdue;
    },
  },
  'an insert inside a transaction that is rolled back stays, with its event (L-11)': rollingBack('insert'),
  'a change inside a transaction that is rolled back stays, with its events (L-11)': rollingBack('change'),
  'a completion inside a transaction that is rolled back stays (L-11)': rollingBack('complete'),
  'a purge inside a transaction that is rolled back still deletes (L-11)': rollingBack('purge'),
};

function rollingBack(
  method: 'insert' | 'change' | 'complete' | 'purge',
): Readonly<Record<string, BrokenRunTransaction>> {
  return {
    async [`rolls back a ${method} with the transaction of its caller`]({ inside, runs }, end, body) {
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
  };
}
