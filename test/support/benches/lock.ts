import assert from 'node:assert/strict';
import type { Lock, LockConfiguration } from 'cronlatch';
import { StorageBasedLockProvider, type StorageBasedLockProviderOptions } from 'cronlatch/provider';
import { SettableClock } from 'cronlatch/testing';
import { InMemoryStorageAccessor } from '#cronlatch/storage/memory/in-memory-lock-provider';
import { FaultyAccessor } from '../faults/accessor';

export const JOB = { name: 'job', lockAtMostFor: '10m' } as const satisfies LockConfiguration;

/** Two instances of an application on one store with faults, under a clock that the test moves. */
export function lockBench(options: StorageBasedLockProviderOptions = {}) {
  const clock = new SettableClock('2026-11-20T03:00:00Z');
  const store = new InMemoryStorageAccessor(clock);
  const accessor = new FaultyAccessor(store);
  const provider = new StorageBasedLockProvider(accessor, { clock, random: () => 0.5, ...options });
  const other = new StorageBasedLockProvider(store, { clock, ...options });
  return {
    clock,
    store,
    accessor,
    provider,
    other,
    granted: async (configuration: LockConfiguration = JOB): Promise<Lock> => {
      const lock = await provider.lock(configuration);
      assert.ok(lock);
      return lock;
    },
    /** Moves the clock forward in small steps, until the promise is settled. */
    drive: async <T>(promise: Promise<T>, step = 10): Promise<T> => {
      let settled = false;
      const watched = promise.finally(() => (settled = true));
      watched.catch(() => {}); // The caller handles rejections.
      for (await turn(); !settled; await turn()) clock.advance(step);
      return await watched;
    },
  };
}

/** Runs everything that can run without time passing. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
