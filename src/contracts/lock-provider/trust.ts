import assert from 'node:assert/strict';
import { LockLostError, LockStorageError, LockingTaskExecutor } from '../../core';
import { JOB, RecordingObserver, granted, refused } from './assertions';
import { cases, needing } from './fixture';

/** How long a holder trusts its lease, and how it learns that the lease has expired. */
export const trust = [
  ...cases({
    async 'the signal aborts when lockAtMostFor has passed, with a LockLostError (P2)'({ provider, elapse }) {
      const { signal } = await granted(provider, JOB);
      await elapse('9m');
      assert.equal(signal.aborted, false);
      await elapse('1m');
      assert.equal(signal.aborted, true);
      assert.ok(signal.reason instanceof LockLostError);
    },

    async 'remainingMs counts down to zero (P2)'({ provider, elapse }) {
      const lock = await granted(provider, JOB);
      assert.ok(lock.remainingMs() <= 600_000 && lock.remainingMs() > 590_000);
      await elapse('4m');
      assert.ok(lock.remainingMs() <= 360_000 && lock.remainingMs() > 350_000);
      await elapse('6m');
      assert.equal(lock.remainingMs(), 0);
    },

    async 'remainingMs follows an extension (P2)'({ provider, elapse }) {
      const lock = await granted(provider, JOB);
      await elapse('4m');
      await lock.extend('20m');
      assert.ok(lock.remainingMs() <= 1_200_000 && lock.remainingMs() > 1_190_000);
    },

    async 'a release does not abort the signal, and remainingMs becomes zero (P2)'({ provider, elapse }) {
      const lock = await granted(provider, JOB);
      await lock.unlock();
      assert.equal(lock.remainingMs(), 0);
      await elapse('11m');
      assert.equal(lock.signal.aborted, false);
      assert.equal(lock.remainingMs(), 0);
    },

    async 'the signal of a lost lock stays aborted and stays the same object (P2)'({ provider, elapse }) {
      const lock = await granted(provider, JOB);
      const { signal } = lock;
      await elapse('10m');
      await lock.extend('10m');
      await lock.unlock();
      assert.equal(lock.signal, signal);
      assert.equal(signal.aborted, true);
    },
  }),

  ...needing(['observer'], {
    async 'the observer is notified of a loss, once (P2)'({ provider, elapse }) {
      const observer = new RecordingObserver();
      const lock = await granted(provider, JOB, observer);
      await elapse('10m');
      await lock.extend('10m');
      await lock.unlock();
      assert.deepEqual(observer.losses, [lock.signal.reason]);
    },

    async 'the observer is notified of an extension, and of no loss after a release (P2)'(fixture) {
      const { provider, elapse } = fixture;
      const observer = new RecordingObserver();
      const lock = await granted(provider, JOB, observer);
      const extended = observer.next('extended');
      await lock.extend('5m');
      await extended;
      await lock.unlock();
      await elapse('11m');
      assert.deepEqual(observer.losses, []);
    },
  }),
];

/** A process was stopped or blocked while time passed: its timers have not fired yet. */
export const lateHolder = needing(['stall'], {
  async 'after a stall past the deadline, the signal is aborted when it is read (P2)'({ provider, stall }) {
    const lock = await granted(provider, JOB);
    await stall('10m');
    assert.equal(lock.signal.aborted, true);
  },

  async 'after a stall past the deadline, remainingMs is zero (P2)'({ provider, stall }) {
    const lock = await granted(provider, JOB);
    const { signal } = lock;
    await stall('10m');
    assert.equal(lock.remainingMs(), 0);
    assert.equal(signal.aborted, true);
  },

  async 'after a stall past the deadline, reading the fencing token aborts the signal (P2)'(fixture) {
    const { provider, stall } = fixture;
    const lock = await granted(provider, JOB);
    const { signal } = lock;
    await stall('10m');
    void lock.fencingToken;
    assert.equal(signal.aborted, true);
  },

  async 'after a stall past the deadline, extend aborts the signal and revives nothing (P2)'(fixture) {
    const { provider, other, stall } = fixture;
    const lock = await granted(provider, JOB);
    const { signal } = lock;
    await stall('10m');
    assert.equal(await lock.extend('10m'), false);
    assert.equal(signal.aborted, true);
    await granted(other, JOB);
  },

  async 'after a stall past the deadline, unlock returns false (P2)'({ provider, other, stall }) {
    const lock = await granted(provider, JOB);
    const { signal } = lock;
    await stall('10m');
    await granted(other, JOB);
    assert.equal(await lock.unlock(), false);
    assert.equal(signal.aborted, true);
    await refused(provider, JOB);
  },

  async 'a stall that ends before the deadline has no effect (P2)'({ provider, other, stall }) {
    const lock = await granted(provider, JOB);
    await stall('9m');
    assert.equal(lock.signal.aborted, false);
    assert.equal(await lock.extend('10m'), true);
    await stall('9m');
    await refused(other, JOB);
    assert.equal(await lock.unlock(), true);
  },

  async 'a reply that arrives after the end of its lease is an error, not a lock (P7)'(fixture) {
    const { provider, other, stall } = fixture;
    // The lock exists already, so its first statement is the one that grants it.
    await (await granted(provider, JOB)).unlock();
    await asksTooLate(provider.lock(JOB), () => stall('11m'));
    await granted(other, JOB);
  },

  async 'a reply that leaves less than a quarter of its lease is an error, and the lock is released (P7)'({
    provider,
    other,
    stall,
  }) {
    await (await granted(provider, JOB)).unlock();
    await asksTooLate(provider.lock(JOB), () => stall('9m'));
    await granted(other, JOB);
  },

  async 'a task whose lock was granted too late does not run (P7)'({ provider, stall }) {
    await (await granted(provider, JOB)).unlock();
    const task = (): void => assert.fail('the task ran');
    const result = new LockingTaskExecutor(provider).executeWithLock(task, JOB);
    await asksTooLate(result, () => stall('11m'));
  },
});

/** The call is in flight, and time passes before its reply arrives. */
async function asksTooLate(answer: Promise<unknown>, stall: () => void | Promise<void>): Promise<void> {
  const failed = assert.rejects(answer, LockStorageError);
  failed.catch(() => {}); // Awaited below.
  await stall();
  await failed;
}
