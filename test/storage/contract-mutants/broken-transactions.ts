import type { CapabilityMeans } from 'cronlatch/contracts';
import type { BreakableStore } from './breakable-store';
import type { Mutants } from './overlay';

/**
 * Lets the statements of a lock join the transaction of its caller.
 *
 * @param inside the store as the caller of the transaction sees it; `outside`, as all others see it
 */
type BrokenTransaction = (
  stores: { inside: BreakableStore; outside: BreakableStore },
  ...transaction: Parameters<CapabilityMeans['ambientTransaction']>
) => Promise<void>;

export const BROKEN_TRANSACTIONS: Mutants<BrokenTransaction> = {
  'lockAtLeastFor stays in force when the transaction of its caller is rolled back (P8)': {
    async 'is rolled back with the transaction of its caller'({ inside, outside }, end, body) {
      const before = inside.copyOfRows();
      await body();
      if (end === 'rollback') inside.rows = outside.rows = before;
    },
  },
  'other instances see a grant inside a transaction at once (P8)': {
    async 'shows its writes only when the transaction of its caller ends'({ inside, outside }, end, body) {
      inside.rows = inside.copyOfRows();
      await body();
      if (end === 'rollback') inside.rows = outside.rows;
      else outside.rows = inside.rows;
    },
  },
  'a caller inside a transaction sees a release that happened after its transaction began (P8)': {
    async 'reads the state from when the transaction of its caller began'({ inside }, _, body) {
      const { takeOver } = inside;
      const before = inside.copyOfRows();
      inside.takeOver = (request) => {
        const row = before.get(request.name);
        return row !== undefined && !inside.isFree(row) ? undefined : takeOver(request);
      };
      await body();
      inside.takeOver = takeOver;
    },
  },
};
