import assert from 'node:assert/strict';
import { LockLostError } from '../../core';
import { JOB, granted } from './asserting';
import { cases, needing } from './contract-cases';
import { Observed } from './observed';

/** How long a holder trusts its lease, and how it learns that it is over. */
export const trust = [
  ...cases({
    async 'P2 the signal aborts when lockAtMostFor has passed, with a LockLostError'({ provider, elapse }) {
      const { signal } = await granted(provider, JOB);
      await elapse('9m');
      assert.equal(signal.aborted, false);
      await elapse('1m');
      assert.equal(signal.aborted, true);
      assert.ok(signal.reason instanceof LockLostError);
    },

    async 'P2 remainingMs counts down to zero'({ provider, elapse }) {
      const lock = await granted(provider, JOB);
      assert.ok(lock.remainingMs() <= 600_000 && lock.remainingMs() > 590_000);
      await elapse('4m');
      assert.ok(lock.remainingMs() <= 360_000 && lock.remainingMs() > 350_000);
      await elapse('6m');
      assert.equal(lock.remainingMs(), 0);
    },

    async 'P2 remainingMs follows an extension'({ provider, elapse }) {
      const lock = await granted(provider, JOB);
      await elapse('4m');
      await lock.extend('20m');
      assert.ok(lock.remainingMs() <= 1_200_000 && lock.remainingMs() > 1_190_000);
    },

    async 'P2 a release does not abort the signal, and leaves nothing to trust'({ provider, elapse }) {
      const lock = await granted(provider, JOB);
      await lock.unlock();
      assert.equal(lock.remainingMs(), 0);
      await elapse('11m');
      assert.equal(lock.signal.aborted, false);
      assert.equal(lock.remainingMs(), 0);
    },

    async 'P2 the signal of a lost lock stays aborted, and there is one'({ provider, elapse }) {
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
    async 'P2 the observer is told of a loss, once'({ provider, elapse }) {
      const observed = new Observed();
      const lock = await granted(provider, JOB, observed);
      await elapse('10m');
      await lock.extend('10m');
      await lock.unlock();
      assert.deepEqual(observed.losses, [lock.signal.reason]);
    },

    async 'P2 the observer is told of an extension, and of no loss after a release'({ provider, elapse }) {
      const observed = new Observed();
      const lock = await granted(provider, JOB, observed);
      const told = observed.next('extended');
      await lock.extend('5m');
      await told;
      await lock.unlock();
      await elapse('11m');
      assert.deepEqual(observed.losses, []);
    },
  }),
];
