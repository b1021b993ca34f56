import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LockLostError } from 'cronlatch';
import { StorageBasedLockProvider, systemClock } from 'cronlatch/provider';
import { InMemoryStorageAccessor } from '#cronlatch/storage/memory/in-memory-lock-provider';
import { FaultyAccessor } from '../../support/faults/accessor';
import { executorBench, signal } from '../../support/benches/executor';
import { turn } from '../../support/benches/lock';

const DAY_MS = 86_400_000;

void test('a lease of 60 days is renewed after 20 days, and not at once and repeatedly (F-19)', async (t) => {
  const accessor = new FaultyAccessor(new InMemoryStorageAccessor(systemClock));
  const provider = new StorageBasedLockProvider(accessor);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const lock = await provider.lock({
    name: 'job',
    lockAtMostFor: '60d',
    keepAlive: true,
    maxLockDuration: '365d',
  });
  const extensions = (): number => accessor.calls.filter((call) => call === 'extend').length;
  t.mock.timers.tick(19 * DAY_MS);
  await turn();
  assert.equal(extensions(), 0);
  t.mock.timers.tick(DAY_MS);
  for (let turns = 0; turns < 20; turns += 1) await turn();
  assert.equal(extensions(), 1);
  assert.equal(lock?.signal.aborted, false);
  assert.equal(await lock?.unlock(), true);
});

void test('a job that never settles is kept alive until maxLockDuration; then it is reported, and another instance gets the lock (F-10)', async () => {
  const { executor, clock, other, names } = executorBench();
  const configuration = {
    name: 'job',
    lockAtMostFor: '30s',
    keepAlive: true,
    maxLockDuration: '2m',
  } as const;
  const started = signal<AbortSignal>();
  void executor.executeWithLock(({ signal }) => {
    started.resolve(signal);
    return new Promise(() => {});
  }, configuration);
  const aborted = await started.promise;
  for (let seconds = 0; seconds < 119; seconds += 1) {
    clock.advance('1s');
    await turn();
    assert.equal(aborted.aborted, false, `after ${seconds} s`);
    assert.equal(await other.lock(configuration), undefined);
  }
  clock.advance('1s');
  await turn();
  assert.ok(aborted.reason instanceof LockLostError);
  assert.ok(names().includes('lock:lost'));
  assert.ok(await other.lock(configuration));
  assert.equal((await executor.executeWithLock(() => assert.fail('ran'), configuration)).executed, false);
});
