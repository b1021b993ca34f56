import assert from 'node:assert/strict';
import { LockingTaskExecutor } from '../../core';
import { AT_LEAST, JOB, freeOnlyAfter, granted, refused } from './assertions';
import { cases, needing } from './fixture';

/** cronlatch grants no lock again before lockAtLeastFor has passed. */
export const atLeast = cases({
  async 'a lock is not granted again before lockAtLeastFor, even if the job has ended (P5)'(fixture) {
    assert.equal(await (await granted(fixture.provider, AT_LEAST)).unlock(), true);
    await refused(fixture.provider, AT_LEAST);
    await freeOnlyAfter(fixture, ['1m', '1m'], AT_LEAST);
  },

  async 'a lock is not granted again before lockAtLeastFor, even if the job has failed (P5)'(fixture) {
    const fail = (): Promise<never> => Promise.reject(new Error('failed'));
    await assert.rejects(new LockingTaskExecutor(fixture.provider).executeWithLock(fail, AT_LEAST), /failed/);
    await freeOnlyAfter(fixture, ['1m', '1m'], AT_LEAST);
  },

  async 'lockAtLeastFor counts from the grant, not from the release (P5)'({ provider, other, elapse }) {
    const lock = await granted(provider, AT_LEAST);
    await elapse('1m');
    await lock.unlock();
    await refused(other, AT_LEAST);
    await elapse('1m');
    await granted(other, AT_LEAST);
  },

  async 'lockAtLeastFor counts from the grant, not from an extension (P5)'({ provider, other, elapse }) {
    const lock = await granted(provider, AT_LEAST);
    await elapse('1m');
    assert.equal(await lock.extend('10m'), true);
    await lock.unlock();
    await refused(other, AT_LEAST);
    await elapse('1m');
    await granted(other, AT_LEAST);
  },

  async 'a short extension and a release do not undercut lockAtLeastFor (P5)'(fixture) {
    const lock = await granted(fixture.provider, AT_LEAST);
    assert.equal(await lock.extend('30s'), true);
    assert.equal(await lock.unlock(), true);
    await freeOnlyAfter(fixture, ['1m', '1m'], AT_LEAST);
  },

  async 'a job that runs longer than lockAtLeastFor frees its lock at once (P5)'(fixture) {
    const { provider, other, elapse } = fixture;
    const lock = await granted(provider, AT_LEAST);
    await elapse('3m');
    await lock.unlock();
    await granted(other, AT_LEAST);
  },

  async 'with lockAtLeastFor equal to lockAtMostFor the lock is held for exactly that long (P5)'(fixture) {
    const always = { ...JOB, lockAtLeastFor: JOB.lockAtMostFor };
    assert.equal(await (await granted(fixture.provider, always)).unlock(), true);
    await freeOnlyAfter(fixture, ['9m', '1m'], always);
  },

  async 'the lockAtLeastFor of the holder counts, not that of the next caller (P5)'({ provider, other }) {
    await (await granted(provider, JOB)).unlock();
    await (await granted(provider, AT_LEAST)).unlock();
    await refused(other, JOB);
  },
});

/** A holder that sends nothing more leaves its `lockAtLeastFor` in the store. */
export const atLeastAfterCrash = needing(['atLeastAfterCrash'], {
  async 'a short extension and a crash do not undercut lockAtLeastFor (P5)'(fixture) {
    const lock = await granted(fixture.provider, AT_LEAST);
    assert.equal(await lock.extend('30s'), true);
    await freeOnlyAfter(fixture, ['1m', '1m'], AT_LEAST);
  },
});
