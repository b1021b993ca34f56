import assert from 'node:assert/strict';
import { LockingTaskExecutor, type Lock, type LockProvider } from '../../core';
import { AT_LEAST, JOB, expired, granted, refused, released } from './assertions';
import { cases, needing } from './fixture';
import { RandomUse } from './random-use';

/** The lock does not depend on the outcome of the transaction that the caller is in. */
export const ambientTransactions = needing(['ambientTransaction'], (test) => [
  test('other instances see a grant inside a transaction at once (P8)', async (c) => {
    await c.ambientTransaction('commit', async () => {
      await granted(c.provider);
      await refused(c.other);
    });
  }),

  test('a grant stays when the transaction of its caller is rolled back (P8)', async (c) => {
    let lock: Lock | undefined;
    await c.ambientTransaction('rollback', async () => void (lock = await granted(c.provider)));
    await refused(c.other);
    assert.equal(await lock?.unlock(), true);
  }),

  test('a takeover stays when the transaction of its caller is rolled back (P8)', async (c) => {
    const stale = await expired({ ...c, provider: c.other });
    await c.ambientTransaction('rollback', async () => void (await granted(c.provider)));
    await refused(c.other);
    assert.equal(await stale.unlock(), false);
  }),

  test('an extension and a release stay when the transactions of their callers are rolled back (P8)', async (c) => {
    const lock = await granted(c.provider);
    await c.ambientTransaction('rollback', async () => assert.equal(await lock.extend('20m'), true));
    await c.elapse('19m');
    await refused(c.other);
    assert.equal(lock.signal.aborted, false);
    await c.ambientTransaction('rollback', async () => assert.equal(await lock.unlock(), true));
    await granted(c.other);
  }),

  test('lockAtLeastFor stays in force when the transaction of its caller is rolled back (P8)', async (c) => {
    await c.ambientTransaction('rollback', async () => void (await released(c.provider, AT_LEAST)));
    await refused(c.other, AT_LEAST);
  }),

  test('a caller inside a transaction sees a release that happened after its transaction began (P8)', async (c) => {
    const lock = await granted(c.other);
    await c.ambientTransaction('rollback', async () => {
      await refused(c.provider);
      await lock.unlock();
      await granted(c.provider);
    });
    await refused(c.other);
  }),

  test('random use inside transactions gives the same results as without transactions (P8)', async (c) => {
    const use = new RandomUse(c, c.random, JOB.name);
    for (const end of ['rollback', 'commit', 'rollback'] as const) {
      await c.ambientTransaction(end, () => use.steps(40));
      await use.steps(10);
    }
  }),
]);

/** A task runs only while its lock is held, and the lock does not change the task's outcome. */
export const tasks = cases((test) => [
  test('a task runs while its lock is held, and the lock is free afterwards (P1)', async (c) => {
    const result = await execute(c.provider, async () => {
      await refused(c.other);
      return 42;
    });
    assert.deepEqual(result, { executed: true, value: 42 });
    await granted(c.other);
  }),

  test('the error of a task is rethrown unchanged, and its lock is free (P9)', async (c) => {
    const error = new Error('the day could not be closed');
    const result = execute(c.provider, () => Promise.reject(error));
    await assert.rejects(result, (thrown) => thrown === error);
    await granted(c.other);
  }),

  test('a task whose lock was lost while it ran still returns its result (P9)', async (c) => {
    const result = await execute(c.provider, async () => {
      await c.elapse('10m');
      await granted(c.other);
      return 42;
    });
    assert.deepEqual(result, { executed: true, value: 42 });
    await refused(c.provider);
  }),

  test('releasing a lost lock returns false and does not throw (P9)', async (c) => {
    const lock = await expired(c);
    await granted(c.other);
    await lock[Symbol.asyncDispose]();
    assert.equal(await lock.unlock(), false);
  }),
]);

function execute<T>(provider: LockProvider, task: () => T | PromiseLike<T>) {
  return new LockingTaskExecutor(provider).executeWithLock(task, JOB);
}
