// More of this subject: guard/lock-manager.test.ts, storage/lock-manager.test.ts, storage/etcd/waiting.test.ts, storage/redis/released.test.ts, storage/zookeeper/waiting.test.ts, docs/lock-manager.test.ts
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { currentLock, InvalidLockUseError, LockAssert, LockManager } from 'cronlatch';
import { LockingTaskExecutor } from 'cronlatch/provider';
import { signal } from '../../support/benches/executor';
import { lockBench, turn } from '../../support/benches/lock';
import { ORDER, polledBench } from './bench';

void test('withLock waits for the lock, runs the task under it, and releases it', async () => {
  const { here, there, drive, emitted } = polledBench();
  const held = await there.lock('order');
  const result = here.withLock('order', (lock) => {
    LockAssert.assertLocked('order');
    assert.equal(currentLock(), lock);
    return 'done';
  });
  await turn();
  await held.unlock();
  assert.equal(await drive(result), 'done');
  assert.deepEqual(emitted, ['lock:acquired', 'lock:released']);
  assert.ok(await there.tryLock('order'));
});

void test('withLock with wait resolves to undefined if the lock was not granted in time', async () => {
  const { here, there, drive, emitted, clock } = polledBench();
  await there.lock('order');
  const task = (): string => assert.fail('ran');
  assert.equal(await here.withLock('order', { wait: 0 }, task), undefined);
  assert.equal(await drive(here.withLock('order', { wait: '2s' }, task)), undefined);
  assert.equal(clock.monotonicMs(), 2000);
  assert.deepEqual(emitted, ['lock:skipped', 'lock:skipped']);
});

void test('a nested withLock runs in the outer lease without a statement, and frees nothing', async () => {
  const { here, there, accessor } = polledBench();
  await here.withLock('order', async (outer) => {
    const before = accessor.calls.length;
    const inner = await here.withLock(ORDER, (lock) => Promise.resolve(lock));
    assert.equal(inner, outer);
    assert.deepEqual(await here.withLock('order', () => here.withLock('order', () => 'deep')), 'deep');
    assert.equal(accessor.calls.length, before);
    assert.equal(await there.tryLock('order'), undefined);
    LockAssert.assertLocked('order');
  });
  assert.ok(await there.tryLock('order'));
});

void test('withLock is re-entrant in a job of the same provider, and the job in withLock', async () => {
  const { here, provider, clock } = polledBench();
  const jobs = new LockingTaskExecutor(provider, { clock });
  const inJob = await jobs.executeWithLock(() => here.withLock('order', () => 'nested'), ORDER);
  assert.deepEqual(inJob, { executed: true, value: 'nested' });
  const inManager = await here.withLock('order', () => jobs.executeWithLock(() => 'nested', ORDER));
  assert.deepEqual(inManager, { executed: true, value: 'nested' });
});

void test('siblings are not re-entrant: two flows of one process run one after the other', async () => {
  const { here, clock } = polledBench();
  const steps: string[] = [];
  const { promise, resolve } = signal();
  const first = here.withLock('order', async () => {
    steps.push('first begins');
    await promise;
    steps.push('first ends');
  });
  const second = here.withLock('order', () => void steps.push('second'));
  await turn();
  assert.deepEqual(steps, ['first begins']);
  resolve();
  await Promise.all([first, second]);
  assert.deepEqual(steps, ['first begins', 'first ends', 'second']);
  assert.equal(clock.monotonicMs(), 0, 'the release wakes the waiter, without a poll');
});

void test('lock and tryLock are refused inside a live lease of the same provider and name', async () => {
  const { here, there, accessor } = polledBench();
  await here.withLock('order', async () => {
    const before = accessor.calls.length;
    await assert.rejects(here.lock('order'), InvalidLockUseError);
    await assert.rejects(here.tryLock('order'), InvalidLockUseError);
    await assert.rejects(here.tryLock(ORDER, { wait: '5s' }), InvalidLockUseError);
    assert.equal(accessor.calls.length, before);
    assert.equal(await there.tryLock('order'), undefined, 'another provider is asked');
    await using other = await here.lock('another order');
    assert.equal(other.name, 'another order');
  });
  assert.equal(await here.isLocked('another order'), false, 'await using has released it');
});

void test('an aborted wait is not reported as a failure of the lock', async () => {
  const { here, there, emitted } = polledBench();
  await there.lock('order');
  const stop = new AbortController();
  const waiting = here.withLock('order', { signal: stop.signal }, () => assert.fail('ran'));
  await turn();
  stop.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  assert.ok(!emitted.includes('lock:failed'));
});

void test('unlock resolves to false if the lock was lost, and the handle is a lock', async () => {
  const { here, there, clock } = polledBench();
  const lock = await here.lock({ ...ORDER, lockAtMostFor: '1m' });
  assert.equal(typeof lock.fencingToken, 'number');
  assert.equal(await lock.extend('2m'), true);
  assert.equal(lock.remainingMs(), 120_000);
  clock.advance('2m');
  assert.equal(lock.signal.aborted, true);
  assert.ok(await there.tryLock('order'));
  assert.equal(await lock.unlock(), false);
  assert.equal(await lock.unlock(), false);
});

void test('a lock that was granted just before close is released too', async () => {
  const { here, there } = polledBench();
  const granted = here.lock('order');
  for (let i = 0; i < 8; i += 1) await Promise.resolve();
  void here.close();
  const [lock] = await Promise.allSettled([granted]);
  assert.ok(lock.status === 'rejected' || lock.value.signal.aborted);
  await turn();
  assert.ok(await there.tryLock('order'));
});

void test('close rejects the waiters, releases the handles, and grants no more', async () => {
  const { here, there, clock } = polledBench();
  const held = await here.lock('mine');
  await there.lock('order');
  const waiting = [here.lock('order'), here.withLock('order', () => assert.fail('ran'))];
  await turn();
  const closed = here.close();
  for (const waiter of waiting) await assert.rejects(waiter, { name: 'AbortError' });
  await closed;
  assert.equal(held.signal.aborted, true);
  assert.ok(await there.tryLock('mine'));
  await assert.rejects(here.tryLock('third'), { name: 'AbortError' });
  assert.equal(clock.pendingTimers, 2, 'the deadlines of the other manager');
});

void test('close gives up the release of a handle that a lagging server contradicts', async () => {
  const { accessor, provider, clock } = lockBench();
  const manager = new LockManager(provider, { clock, lockAtMostFor: '10m' });
  await manager.lock('mine');
  accessor.fail('unlock', () => Promise.resolve(false));
  accessor.fail('find', () => Promise.resolve(undefined));
  await manager.close();
  assert.equal(clock.pendingTimers, 0);
});
