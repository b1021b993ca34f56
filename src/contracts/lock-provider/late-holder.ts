import assert from 'node:assert/strict';
import { LockingTaskExecutor, LockStorageError } from '../../core';
import { JOB, granted, refused } from './asserting';
import { needing } from './contract-cases';

/** A process that was stopped, or blocked, while time went on: its timers have not fired yet. */
export const lateHolder = needing(['stall'], {
  async 'P2 after a stall past the deadline, reading the signal finds it aborted'({ provider, stall }) {
    const lock = await granted(provider, JOB);
    await stall('10m');
    assert.equal(lock.signal.aborted, true);
  },

  async 'P2 after a stall past the deadline, nothing remains to trust'({ provider, stall }) {
    const lock = await granted(provider, JOB);
    const { signal } = lock;
    await stall('10m');
    assert.equal(lock.remainingMs(), 0);
    assert.equal(signal.aborted, true);
  },

  async 'P2 after a stall past the deadline, reading the fencing token aborts the signal'({
    provider,
    stall,
  }) {
    const lock = await granted(provider, JOB);
    const { signal } = lock;
    await stall('10m');
    void lock.fencingToken;
    assert.equal(signal.aborted, true);
  },

  async 'P2 after a stall past the deadline, extend aborts the signal and revives nothing'({
    provider,
    other,
    stall,
  }) {
    const lock = await granted(provider, JOB);
    const { signal } = lock;
    await stall('10m');
    assert.equal(await lock.extend('10m'), false);
    assert.equal(signal.aborted, true);
    await granted(other, JOB);
  },

  async 'P2 after a stall past the deadline, unlock says that the lock was lost'({ provider, other, stall }) {
    const lock = await granted(provider, JOB);
    const { signal } = lock;
    await stall('10m');
    await granted(other, JOB);
    assert.equal(await lock.unlock(), false);
    assert.equal(signal.aborted, true);
    await refused(provider, JOB);
  },

  async 'P2 a stall that ends before the deadline costs nothing'({ provider, other, stall }) {
    const lock = await granted(provider, JOB);
    await stall('9m');
    assert.equal(lock.signal.aborted, false);
    assert.equal(await lock.extend('10m'), true);
    await stall('9m');
    await refused(other, JOB);
    assert.equal(await lock.unlock(), true);
  },

  async 'P7 an answer that comes after the end of its lease is an error, not a lock'({
    provider,
    other,
    stall,
  }) {
    // A lock that was there before: its first statement is the one that is granted.
    await (await granted(provider, JOB)).unlock();
    await asksTooLate(provider.lock(JOB), () => stall('11m'));
    await granted(other, JOB);
  },

  async 'P7 an answer that leaves less than a quarter of its lease is an error, and the lock is given back'({
    provider,
    other,
    stall,
  }) {
    await (await granted(provider, JOB)).unlock();
    await asksTooLate(provider.lock(JOB), () => stall('9m'));
    await granted(other, JOB);
  },

  async 'P7 a task whose lock came too late does not run'({ provider, stall }) {
    await (await granted(provider, JOB)).unlock();
    const task = (): void => assert.fail('the task ran');
    const result = new LockingTaskExecutor(provider).executeWithLock(task, JOB);
    await asksTooLate(result, () => stall('11m'));
  },
});

/** The call is on its way, and time passes before its answer arrives. */
async function asksTooLate(answer: Promise<unknown>, stall: () => void | Promise<void>): Promise<void> {
  const failed = assert.rejects(answer, LockStorageError);
  failed.catch(() => {}); // Awaited below.
  await stall();
  await failed;
}
