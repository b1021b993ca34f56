import { test } from 'node:test';
import { StorageBasedLockProvider } from 'cronlatch/provider';
import { lockProviderContract } from 'cronlatch/contracts';
import { SettableClock } from 'cronlatch/testing';
import { KeyValueStore } from '../../examples/own-lock-provider/key-value-store';
import { KeyValueLocks } from '../../examples/own-lock-provider/key-value-locks';

const lacks = {
  ambientTransaction: 'the store has no transactions',
  list: 'the store does not list its keys',
  released: 'the store cannot notify',
  staleReads: 'the store has no replicas',
};

const contract = lockProviderContract(
  () => {
    const clock = new SettableClock();
    const store = new KeyValueStore(() => clock.monotonicMs());
    return {
      provider: new StorageBasedLockProvider(new KeyValueLocks(store), { clock }),
      other: new StorageBasedLockProvider(new KeyValueLocks(store), { clock }),
      elapse: (duration) => clock.advance(duration),
      stall: (duration) => clock.stall(duration),
      deleteRecord: async (name) => void (await store.delete(name)),
      async existingRecord({ name, lockedBy, endsInMs }) {
        await store.delete(name);
        await store.setIfAbsent(name, lockedBy, endsInMs);
      },
      dispose: () => {},
    };
  },
  { lacks },
);

for (const { name, skip, run } of contract) void test(`own-lock-provider: ${name}`, { skip }, run);
