import assert from 'node:assert/strict';
import { test } from 'node:test';
import { currentLock, LockAssert, LockExtender, LockNotHeldError, type Lock } from 'cronlatch';
import { GrantedLock, ActiveRun } from '#cronlatch/core/execution/run-registry';
import { executorBench, signal } from '../../support/benches/executor';
import { JOB, lockBench } from '../../support/benches/lock';

void test('outside a lease no lock is held', async () => {
  assert.throws(() => currentLock(), {
    name: 'LockNotHeldError',
    message: /^currentLock\(\) was called outside a guarded job\. .* currentLock\(\{ optional: true \}\)\.$/,
  });
  assert.throws(() => currentLock({ optional: false }), LockNotHeldError);
  assert.equal(currentLock({ optional: true }), undefined);
  assert.throws(() => LockAssert.assertLocked(), LockNotHeldError);
  assert.throws(() => LockAssert.assertLocked('job'), /Lock 'job' is not held here/);
  await assert.rejects(LockExtender.extendActiveLock('10m'), LockNotHeldError);
});

void test('inside a lease its lock is the current one, across awaits', async () => {
  const { executor } = executorBench();
  await executor.executeWithLock(async (lock) => {
    await Promise.resolve();
    assert.equal(currentLock(), lock);
    assert.equal(currentLock({ optional: true }), lock);
    LockAssert.assertLocked();
    LockAssert.assertLocked('job');
    assert.throws(() => LockAssert.assertLocked('other'), LockNotHeldError);
  }, JOB);
});

void test('inside two leases both locks are held, and the inner one is current', async () => {
  const { executor } = executorBench();
  const inner = { ...JOB, name: 'inner' };
  await executor.executeWithLock(async () => {
    await executor.executeWithLock(() => {
      assert.equal(currentLock().name, 'inner');
      LockAssert.assertLocked('inner');
      LockAssert.assertLocked('job');
    }, inner);
    assert.equal(currentLock().name, 'job');
    assert.throws(() => LockAssert.assertLocked('inner'), LockNotHeldError);
  }, JOB);
});

void test('work that outlives the job no longer holds the lock (F-86)', async () => {
  const { executor } = executorBench();
  const { promise, resolve } = signal();
  let leaked: Promise<unknown> = Promise.resolve();
  await executor.executeWithLock(() => {
    leaked = promise.then(() => {
      assert.equal(currentLock({ optional: true }), undefined);
      assert.throws(() => currentLock(), LockNotHeldError);
      LockAssert.assertLocked('job');
    });
  }, JOB);
  resolve();
  await assert.rejects(leaked, LockNotHeldError);
});

void test('after the deadline the lock is not held, even if the handler still runs', async () => {
  const { executor, clock } = executorBench();
  await executor.executeWithLock(() => {
    clock.stall('11m');
    assert.throws(() => LockAssert.assertLocked(), LockNotHeldError);
  }, JOB);
});

void test('the current lock can be extended from anywhere in the job', async () => {
  const { executor, clock } = executorBench();
  await executor.executeWithLock(async (lock) => {
    clock.advance('9m');
    assert.equal(await LockExtender.extendActiveLock('10m'), true);
    clock.advance('9m');
    assert.equal(lock.signal.aborted, false);
    clock.advance('1m');
    assert.equal(lock.signal.aborted, true);
  }, JOB);
});

void test('a run that starts in work left over from another run does not keep the other run in memory', async () => {
  const { provider, granted } = lockBench();
  const [first, second] = [await granted(), await granted({ ...JOB, name: 'second' })];
  const grantedLock = (lease: Lock): GrantedLock =>
    new GrantedLock(lease, provider, new ActiveRun(lease.name));
  const over = grantedLock(first);
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  // A job that calls itself from a timer would otherwise keep a chain of all its runs.
  const leftOver = await over.during(() => {
    assert.equal(grantedLock(second).outer, over);
    return Promise.resolve([ended.then(() => grantedLock(second).outer)]);
  });
  end();
  assert.deepEqual(await Promise.all(leftOver), [undefined]);
});
