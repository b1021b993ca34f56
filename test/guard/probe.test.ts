import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobGuard, LockStorageError } from 'cronlatch';
import { InMemoryLockProvider } from 'cronlatch/memory';
import { refusedConnection } from '../support/faulty-accessor';
import { guardBench, reasonOf } from '../support/guard-bench';

void test('a store that answers is there, and holds no lock more than before', async () => {
  const { guard, store } = guardBench();
  await guard.probe();
  assert.equal(await store.find('cronlatch-probe'), undefined);
});

void test('a store that fails is told of by its own error', async () => {
  const { guard, accessor } = guardBench();
  accessor.fail('find', refusedConnection);
  const reason = await reasonOf(guard.probe());
  assert.ok(reason instanceof LockStorageError);
  await guard.probe();
});

void test('a store that stays silent is not waited for beyond the time that it has', async () => {
  const { guard, accessor, drive, clock } = guardBench();
  accessor.fail('find', () => new Promise(() => {}));
  const before = clock.monotonicMs();
  const reason = await reasonOf(drive(guard.probe('2s'), 100));
  assert.ok(reason instanceof LockStorageError);
  assert.equal(clock.monotonicMs() - before, 2000);
});

void test('a lock provider that has no such question counts as reachable', async () => {
  const locks = new InMemoryLockProvider();
  const guard = new JobGuard({ lockProvider: { lock: (configuration) => locks.lock(configuration) } });
  await guard.probe();
  await guard.close();
});
