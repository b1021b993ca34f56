import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobGuard, LockStorageError } from 'cronlatch';
import { InMemoryLockProvider } from 'cronlatch/memory';
import { guardBench, reasonOf } from '../support/benches/guard';
import { refusedConnection } from '../support/faults/accessor';

void test('a store that answers is reachable, and the probe takes no lock', async () => {
  const { guard, store } = guardBench();
  await guard.probe();
  assert.equal(await store.find('cronlatch-probe'), undefined);
});

void test('a store that fails is reported with its own error', async () => {
  const { guard, accessor } = guardBench();
  accessor.fail('find', refusedConnection);
  assert.ok((await reasonOf(guard.probe())) instanceof LockStorageError);
  await guard.probe();
});

void test('the probe of a silent store ends at its timeout', async () => {
  const { guard, accessor, drive, clock } = guardBench();
  accessor.fail('find', () => new Promise(() => {}));
  const before = clock.monotonicMs();
  assert.ok((await reasonOf(drive(guard.probe('2s'), 100))) instanceof LockStorageError);
  assert.equal(clock.monotonicMs() - before, 2000);
});

void test('a lock provider without a probe counts as reachable', async () => {
  const locks = new InMemoryLockProvider();
  const guard = new JobGuard({ lockProvider: { lock: (configuration) => locks.lock(configuration) } });
  await guard.probe();
  await guard.close();
});
