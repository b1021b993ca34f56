import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageBasedLockProvider, type StorageAccessor } from 'cronlatch/provider';
import { SettableClock } from 'cronlatch/testing';
import { InMemoryStorageAccessor } from '#cronlatch/storage/memory/in-memory-lock-provider';
import { guardOfRuns } from '../support/benches/guard-of-runs';
import { closeDay, heldTask } from '../support/jobs/close-day';

/** A table of ShedLock's has none. */
function withoutTokens(inner: InMemoryStorageAccessor): StorageAccessor {
  const without = <A>(answer: A) => (typeof answer === 'object' ? { fencingToken: undefined } : undefined);
  return {
    insertRecord: async (request) => without(await inner.insertRecord(request)),
    updateRecord: async (request) => without(await inner.updateRecord(request)),
    extend: (request) => inner.extend(request),
    unlock: (request) => inner.unlock(request),
    find: (name) => inner.find(name),
  };
}

void test('of two calls for one day under one lock without tokens, the second does not consider the first crashed', async () => {
  const clock = new SettableClock('2026-11-20T03:00:00Z');
  const lockProvider = new StorageBasedLockProvider(withoutTokens(new InMemoryStorageAccessor(clock)), {
    clock,
  });
  const { guard } = guardOfRuns({ lockProvider });
  const held = heldTask();
  const result = await guard.run({ name: 'close-day', lockAtMostFor: '10m' }, async () => {
    const first = guard.run(closeDay(), held.task);
    await held.started;
    const second = await guard.run(closeDay(), () => assert.fail('ran twice'));
    held.end();
    return [await first, second];
  });
  assert.deepEqual(result, {
    executed: true,
    value: [
      { executed: true, value: 'done' },
      { executed: false, reason: 'running-elsewhere' },
    ],
  });
});
