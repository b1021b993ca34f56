import assert from 'node:assert/strict';
import { LockingTaskExecutor, type LockProvider } from '../../core';
import { JOB, expired, granted, refused } from './assertions';
import { cases } from './fixture';

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
