import assert from 'node:assert/strict';
import { LockLostError } from '../../core';
import { JOB, granted, refused, type ContractCases } from './asserting';

/** How long a lease lasts, and how its holder learns that it is over. */
export const lease: ContractCases = {
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

  async 'P2 an extend that finds the lease lost aborts the signal'({ provider, deleteRecord }) {
    const lock = await granted(provider, JOB);
    await deleteRecord(JOB.name);
    assert.equal(await lock.extend('10m'), false);
    assert.equal(lock.signal.aborted, true);
  },

  async 'P2 a release does not abort the signal'({ provider, elapse }) {
    const lock = await granted(provider, JOB);
    await lock.unlock();
    await elapse('11m');
    assert.equal(lock.signal.aborted, false);
    assert.equal(lock.remainingMs(), 0);
  },

  async 'P4 the lock of a holder that vanished is granted when lockAtMostFor has passed, not before'({
    provider,
    other,
    elapse,
  }) {
    await granted(provider, JOB);
    await elapse('9m');
    await refused(other, JOB);
    await elapse('1m');
    await granted(other, JOB);
  },

  async 'P4 a record that was deleted while the lock was free comes back within a minute'({
    provider,
    deleteRecord,
    elapse,
  }) {
    await (await granted(provider, JOB)).unlock();
    await deleteRecord(JOB.name);
    await elapse('1m');
    await granted(provider, JOB);
  },

  async 'P4 extend moves the end of the lease to now + lockAtMostFor'({ provider, other, elapse }) {
    const lock = await granted(provider, JOB);
    await elapse('5m');
    assert.equal(await lock.extend('10m'), true);
    await elapse('9m');
    await refused(other, JOB);
    assert.equal(lock.signal.aborted, false);
    await elapse('1m');
    assert.equal(lock.signal.aborted, true);
    await granted(other, JOB);
  },

  async 'P4 a lease can be extended twice'({ provider, other, elapse }) {
    const lock = await granted(provider, JOB);
    for (let extension = 1; extension <= 2; extension += 1) {
      await elapse('9m');
      assert.equal(await lock.extend('10m'), true);
    }
    await elapse('9m');
    await refused(other, JOB);
    await lock.unlock();
    await granted(other, JOB);
  },

  async 'P4 a lease can be shortened'({ provider, other, elapse }) {
    const lock = await granted(provider, JOB);
    assert.equal(await lock.extend('1m'), true);
    await elapse('1m');
    assert.equal(lock.signal.aborted, true);
    await granted(other, JOB);
  },
};
