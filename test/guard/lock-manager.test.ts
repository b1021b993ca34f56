import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockConfigurationError, JobGuard } from 'cronlatch';
import { InMemoryLockProvider } from 'cronlatch/memory';
import { signal } from '../support/benches/executor';
import { turn } from '../support/benches/lock';

function guardBench() {
  const lockProvider = new InMemoryLockProvider();
  const guard = new JobGuard({ lockProvider, logger: false, defaultLockAtMostFor: '1m' });
  return { lockProvider, guard, manager: guard.lockManager() };
}

void test('the lock manager of a guard has its defaults and its events', async () => {
  const { guard, manager, lockProvider } = guardBench();
  const acquired = new Promise((resolve) => guard.once('lock:acquired', resolve));
  const lock = await manager.lock('order');
  assert.ok(lock.remainingMs() > 50_000 && lock.remainingMs() <= 60_000);
  assert.deepEqual(await acquired, {
    name: 'order',
    scheduledAt: undefined,
    fencingToken: lock.fencingToken,
  });
  assert.equal(guard.lockManager(), manager);
  const bare = new JobGuard({ lockProvider, logger: false });
  await assert.rejects(bare.lockManager().lock('order'), InvalidLockConfigurationError);
  await guard.close();
});

void test('a call that waits does not keep a job of its name from running', async () => {
  const { guard, manager, lockProvider } = guardBench();
  const held = await lockProvider.lock({ name: 'order', lockAtMostFor: '1m' });
  const waiting = manager.withLock('order', () => 'waited');
  await turn();
  const job = await guard.run({ name: 'order' }, () => 'ran');
  assert.deepEqual(job, { executed: false, reason: 'locked' });
  await held?.unlock();
  assert.equal(await waiting, 'waited');
});

void test('a closing guard rejects waiters, waits for withLock, and then releases the handles', async () => {
  const { guard, manager, lockProvider } = guardBench();
  const { promise, resolve } = signal();
  const handle = await manager.lock('handle');
  const task = manager.withLock('task', () => promise);
  const waiters = [manager.lock('task'), manager.withLock('task', () => assert.fail('ran'))];
  await turn();
  const closing = guard.close();
  for (const waiter of waiters) await assert.rejects(waiter, { name: 'AbortError' });
  assert.equal(handle.signal.aborted, false, 'a running job may need it');
  resolve();
  await task;
  assert.deepEqual((await closing).abandoned, []);
  assert.equal(handle.signal.aborted, true);
  for (const name of ['handle', 'task'])
    assert.ok(await lockProvider.lock({ name, lockAtMostFor: '1m' }), `${name} is free`);
  await assert.rejects(manager.tryLock('late'), { name: 'AbortError' });
});

void test('the locks are released before the hooks of the guard close what they need', async () => {
  const { guard, manager } = guardBench();
  const steps: string[] = [];
  guard.onClose({ close: () => Promise.resolve(void steps.push('pool closed')) });
  guard.on('lock:released', () => void steps.push('released'));
  await manager.lock('order');
  await guard.close();
  assert.deepEqual(steps, ['released', 'pool closed']);
});
