import assert from 'node:assert/strict';
import { JOB, AT_LEAST, granted, refused } from './asserting';
import { cases } from './contract-cases';

/** A stale holder changes nothing. */
export const ownership = cases({
  async 'P6 a stale holder does not release the next one'({ provider, other, elapse }) {
    const stale = await granted(provider, JOB);
    await elapse('10m');
    await granted(other, JOB);
    assert.equal(await stale.unlock(), false);
    await refused(provider, JOB);
  },

  async 'P6 a stale holder does not release the next one of the same process'({ provider, elapse }) {
    const stale = await granted(provider, JOB);
    await elapse('10m');
    await granted(provider, JOB);
    assert.equal(await stale.unlock(), false);
    await refused(provider, JOB);
  },

  async 'P6 a release after the end of the lease says so, also when nobody took over'({ provider, elapse }) {
    const stale = await granted(provider, JOB);
    await elapse('10m');
    assert.equal(await stale.unlock(), false);
    await granted(provider, JOB);
  },

  async 'P6 a stale holder cannot extend, not even when nobody took over'({ provider, elapse }) {
    const stale = await granted(provider, JOB);
    await elapse('10m');
    assert.equal(await stale.extend('10m'), false);
    await granted(provider, JOB);
  },

  async 'P6 a stale holder does not move the end of the next lease'({ provider, other, elapse }) {
    const stale = await granted(provider, JOB);
    await elapse('10m');
    await granted(other, JOB);
    assert.equal(await stale.extend('1h'), false);
    await elapse('9m');
    await refused(provider, JOB);
    await elapse('1m');
    await granted(provider, JOB);
  },

  async 'P6 extending after the release changes nothing'({ provider, other }) {
    const lock = await granted(provider, AT_LEAST);
    await lock.unlock();
    assert.equal(await lock.extend('10m'), false);
    await refused(other, AT_LEAST);
  },

  async 'P6 extending after the release does not take the lock back'({ provider, other }) {
    const lock = await granted(provider, JOB);
    await lock.unlock();
    assert.equal(await lock.extend('10m'), false);
    await granted(other, JOB);
  },

  async 'P6 an extension that is asked for together with the release is not later than it'({
    provider,
    other,
  }) {
    const lock = await granted(provider, JOB);
    assert.deepEqual(await Promise.all([lock.unlock(), lock.extend('10m')]), [true, false]);
    await granted(other, JOB);
  },

  async 'P6 releasing twice gives one answer and frees nobody else'({ provider, other }) {
    const lock = await granted(provider, JOB);
    assert.equal(await lock.unlock(), true);
    await granted(other, JOB);
    assert.equal(await lock.unlock(), true);
    await refused(provider, JOB);
  },

  async 'P6 releasing many times at once gives one answer'({ provider, other }) {
    const lock = await granted(provider, JOB);
    const answers = await Promise.all(Array.from({ length: 10 }, () => lock.unlock()));
    assert.deepEqual([...new Set(answers)], [true]);
    await granted(other, JOB);
  },

  async 'P6 a lease that is disposed of is released'({ provider, other }) {
    const lock = await granted(provider, JOB);
    await lock[Symbol.asyncDispose]();
    await granted(other, JOB);
    assert.equal(await lock.unlock(), true);
  },
});
