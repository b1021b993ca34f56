import assert from 'node:assert/strict';
import { LockingTaskExecutor } from '../../core';
import { JOB, AT_LEAST, granted, refused } from './assertions';
import { cases } from './fixture';

/** No new run before lockAtLeastFor. */
export const atLeast = cases({
  async 'P5 no grant before lockAtLeastFor, although the job has ended'({ provider, other, elapse }) {
    assert.equal(await (await granted(provider, AT_LEAST)).unlock(), true);
    await refused(provider, AT_LEAST);
    await elapse('1m');
    await refused(other, AT_LEAST);
    await elapse('1m');
    await granted(other, AT_LEAST);
  },

  async 'P5 no grant before lockAtLeastFor, although the job has failed'({ provider, other, elapse }) {
    const failing = new LockingTaskExecutor(provider).executeWithLock(
      () => Promise.reject(new Error('failed')),
      AT_LEAST,
    );
    await assert.rejects(failing, /failed/);
    await elapse('1m');
    await refused(other, AT_LEAST);
    await elapse('1m');
    await granted(other, AT_LEAST);
  },

  async 'P5 it counts from the grant, not from the release'({ provider, other, elapse }) {
    const lock = await granted(provider, AT_LEAST);
    await elapse('1m');
    await lock.unlock();
    await refused(other, AT_LEAST);
    await elapse('1m');
    await granted(other, AT_LEAST);
  },

  async 'P5 it counts from the grant, not from an extension'({ provider, other, elapse }) {
    const lock = await granted(provider, AT_LEAST);
    await elapse('1m');
    assert.equal(await lock.extend('10m'), true);
    await lock.unlock();
    await refused(other, AT_LEAST);
    await elapse('1m');
    await granted(other, AT_LEAST);
  },

  async 'P5 a short extend and a crash do not undercut lockAtLeastFor'({ provider, other, elapse }) {
    const lock = await granted(provider, AT_LEAST);
    assert.equal(await lock.extend('30s'), true);
    await elapse('1m');
    await refused(other, AT_LEAST);
    await elapse('1m');
    await granted(other, AT_LEAST);
  },

  async 'P5 a short extend and a release do not undercut lockAtLeastFor'({ provider, other, elapse }) {
    const lock = await granted(provider, AT_LEAST);
    assert.equal(await lock.extend('30s'), true);
    assert.equal(await lock.unlock(), true);
    await elapse('1m');
    await refused(other, AT_LEAST);
    await elapse('1m');
    await granted(other, AT_LEAST);
  },

  async 'P5 a run longer than lockAtLeastFor frees the lock at once'({ provider, other, elapse }) {
    const lock = await granted(provider, AT_LEAST);
    await elapse('3m');
    await lock.unlock();
    await granted(other, AT_LEAST);
  },

  async 'P5 lockAtLeastFor equal to lockAtMostFor keeps the lock for exactly that long'({
    provider,
    other,
    elapse,
  }) {
    const always = { ...JOB, lockAtLeastFor: JOB.lockAtMostFor };
    assert.equal(await (await granted(provider, always)).unlock(), true);
    await elapse('9m');
    await refused(other, always);
    await elapse('1m');
    await granted(other, always);
  },

  async 'P5 lockAtLeastFor is that of the grant, not of whoever asks next'({ provider, other }) {
    await (await granted(provider, JOB)).unlock();
    await (await granted(provider, AT_LEAST)).unlock();
    await refused(other, JOB);
  },
});
