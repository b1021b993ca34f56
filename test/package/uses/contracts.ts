import assert from 'node:assert/strict';
import { runStoreContract } from 'cronlatch/contracts';
import { InMemoryRuns, InMemoryRunStore } from 'cronlatch/memory';
import { SettableClock } from 'cronlatch/testing';

export async function use() {
  const [first] = runStoreContract(
    () => {
      const clock = new SettableClock();
      const runs = new InMemoryRuns({ clock });
      return {
        store: new InMemoryRunStore({ runs }),
        other: new InMemoryRunStore({ runs }),
        elapse: () => clock.advance('1m'),
        dispose: () => {},
      };
    },
    { lacks: { deleteRun: 'no', ambientTransaction: 'no', staleReads: 'no' } },
  );
  assert.match(first?.name ?? '', /\(L1\)$/);
  await first?.run();
}
