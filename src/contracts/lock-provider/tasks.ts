import assert from 'node:assert/strict';
import { LockingTaskExecutor, type LockProvider } from '../../core';
import { JOB, granted, refused } from './assertions';
import { cases } from './fixture';

/** A task runs only while its lock is held, and the lock does not change the task's outcome. */
export const tasks = cases({
  async 'a task runs while its lock is held, and the lock is free afterwards (P1)'({ provider, other }) {
    const result = await execute(provider, async () => {
      await refused(other, JOB);
      return 42;
    });
    assert.deepEqual(result, { executed: true, value: 42 });
    await granted(other, JOB);
  },

  async 'a task whose lock another instance holds is skipped, without an error (P1)'({ provider, other }) {
    await granted(other, JOB);
    const result = await execute(provider, () => assert.fail('the task ran'));
    assert.deepEqual(result, { executed: false, reason: 'locked' });
  },

  async 'a task with an invalid configuration does not run (P7)'({ provider }) {
    const configuration = { ...JOB, lockAtMostFor: '0s' };
    const task = (): void => assert.fail('the task ran');
    await assert.rejects(new LockingTaskExecutor(provider).executeWithLock(task, configuration), {
      code: 'CRONLATCH_INVALID_CONFIGURATION',
    });
  },

  async 'the error of a task is rethrown unchanged, and its lock is free (P9)'({ provider, other }) {
    const error = new Error('the day could not be closed');
    await assert.rejects(
      execute(provider, () => Promise.reject(error)),
      (thrown) => thrown === error,
    );
    await granted(other, JOB);
  },

  async 'a task whose lock was lost while it ran still returns its result (P9)'({ provider, other, elapse }) {
    const result = await execute(provider, async () => {
      await elapse('10m');
      await granted(other, JOB);
      return 42;
    });
    assert.deepEqual(result, { executed: true, value: 42 });
    await refused(provider, JOB);
  },

  async 'releasing a lost lock returns false and does not throw (P9)'({ provider, other, elapse }) {
    const lock = await granted(provider, JOB);
    await elapse('10m');
    await granted(other, JOB);
    await lock[Symbol.asyncDispose]();
    assert.equal(await lock.unlock(), false);
  },
});

function execute<T>(provider: LockProvider, task: () => T | PromiseLike<T>) {
  return new LockingTaskExecutor(provider).executeWithLock(task, JOB);
}
