import assert from 'node:assert/strict';
import { InvalidLockConfigurationError } from '../../core';
import { JOB, granted, refused } from './asserting';
import { cases } from './contract-cases';

/** A holder moves the end of its lease. */
export const extending = cases({
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

  async 'P4 a lease can be extended again and again'({ provider, other, elapse }) {
    const lock = await granted(provider, JOB);
    for (let extension = 1; extension <= 5; extension += 1) {
      await elapse('9m');
      assert.equal(await lock.extend('10m'), true);
    }
    await elapse('9m');
    await refused(other, JOB);
    assert.equal(await lock.unlock(), true);
    await granted(other, JOB);
  },

  async 'P4 a lease can be extended by more than it had'({ provider, other, elapse }) {
    const lock = await granted(provider, JOB);
    assert.equal(await lock.extend('2h'), true);
    await elapse('119m');
    assert.equal(lock.signal.aborted, false);
    await refused(other, JOB);
    await elapse('1m');
    await granted(other, JOB);
  },

  async 'P4 a lease can be shortened'({ provider, other, elapse }) {
    const lock = await granted(provider, JOB);
    assert.equal(await lock.extend('1m'), true);
    await elapse('1m');
    assert.equal(lock.signal.aborted, true);
    await granted(other, JOB);
  },

  async 'P4 an extended lease is free at its release'({ provider, other }) {
    const lock = await granted(provider, JOB);
    assert.equal(await lock.extend('1h'), true);
    assert.equal(await lock.unlock(), true);
    await granted(other, JOB);
  },

  async 'P7 an extension that cannot be meant is refused, and changes nothing'({ provider, other, elapse }) {
    const lock = await granted(provider, JOB);
    for (const wrong of [0, -1, NaN, Infinity, '10', '', '-1m', 'P1M', 'soon', '366d', undefined, null])
      await assert.rejects(
        async () => await lock.extend(wrong as string),
        InvalidLockConfigurationError,
        `extend(${String(wrong)})`,
      );
    await elapse('9m');
    assert.equal(lock.signal.aborted, false);
    await refused(other, JOB);
    await elapse('1m');
    await granted(other, JOB);
  },
});
