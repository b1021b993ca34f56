import type { CapabilityMeans } from 'cronlatch/contracts';
import type { BreakableStore } from './breakable-store';

/**
 * Ways in which the statements of a lock could join the caller's transaction, and a case that must catch
 * each.
 */
export interface BrokenTransaction {
  readonly does: string;
  readonly caughtBy: string;
  /** @param inside the store as the caller of the transaction sees it; `outside`, as all others see it */
  readonly run: (
    stores: { inside: BreakableStore; outside: BreakableStore },
    ...transaction: Parameters<CapabilityMeans['ambientTransaction']>
  ) => Promise<void>;
}

export const BROKEN_TRANSACTIONS: readonly BrokenTransaction[] = [
  {
    does: 'is rolled back with the transaction of its caller',
    caughtBy: 'lockAtLeastFor stays in force when the transaction of its caller is rolled back (P8)',
    async run({ inside, outside }, end, body) {
      const before = inside.copyOfRows();
      await body();
      if (end === 'rollback') inside.rows = outside.rows = before;
    },
  },
  {
    does: 'shows its writes only when the transaction of its caller ends',
    caughtBy: 'other instances see a grant inside a transaction at once (P8)',
    async run({ inside, outside }, end, body) {
      inside.rows = inside.copyOfRows();
      await body();
      if (end === 'rollback') inside.rows = outside.rows;
      else outside.rows = inside.rows;
    },
  },
  {
    does: 'reads the state from when the transaction of its caller began',
    caughtBy: 'a caller inside a transaction sees a release that happened after its transaction began (P8)',
    async run({ inside }, _, body) {
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
];
