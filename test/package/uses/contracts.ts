import assert from 'node:assert/strict';
import { lockProviderContract } from 'cronlatch/contracts';
import { InMemoryLockProvider } from 'cronlatch/memory';
import { SettableClock } from 'cronlatch/testing';

export async function use() {
  const [first] = lockProviderContract(
    () => {
      const clock = new SettableClock();
      const provider = new InMemoryLockProvider({ clock });
      return { provider, other: provider, elapse: () => clock.advance('1m'), dispose: () => {} };
    },
    {
      lacks: {
        deleteRecord: 'no',
        existingRecord: 'no',
        stall: 'no',
        ambientTransaction: 'no',
        staleReads: 'no',
      },
    },
  );
  assert.match(first?.name ?? '', /\(P1\)$/);
  await first?.run();
}
