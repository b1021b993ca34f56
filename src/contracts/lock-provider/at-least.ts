import assert from 'node:assert/strict';
import { AT_LEAST, JOB, freeAfter, freeOnlyAfter, granted, refused, released } from './assertions';
import { cases, needing } from './fixture';

/** cronlatch grants no lock again before lockAtLeastFor has passed. */
export const atLeast = cases((test) => [
  test('a lock is not granted again before lockAtLeastFor, even if it was released (P5)', async (c) => {
    await released(c.provider, AT_LEAST);
    await refused(c.provider, AT_LEAST);
    await freeOnlyAfter(c, ['1m', '1m'], AT_LEAST);
  }),

  test('lockAtLeastFor counts from the grant, not from an extension or the release (P5)', async (c) => {
    const lock = await granted(c.provider, AT_LEAST);
    await c.elapse('1m');
    assert.equal(await lock.extend('10m'), true);
    await lock.unlock();
    await freeAfter(c, '1m', AT_LEAST);
  }),

  test('a short extension and a release do not undercut lockAtLeastFor (P5)', async (c) => {
    const lock = await granted(c.provider, AT_LEAST);
    assert.equal(await lock.extend('30s'), true);
    assert.equal(await lock.unlock(), true);
    await freeOnlyAfter(c, ['1m', '1m'], AT_LEAST);
  }),

  test('a job that runs longer than lockAtLeastFor frees its lock at once (P5)', async (c) => {
    const lock = await granted(c.provider, AT_LEAST);
    await c.elapse('3m');
    await lock.unlock();
    await granted(c.other, AT_LEAST);
  }),

  test('with lockAtLeastFor equal to lockAtMostFor the lock is held for exactly that long (P5)', async (c) => {
    const always = { ...JOB, lockAtLeastFor: JOB.lockAtMostFor };
    await released(c.provider, always);
    await freeOnlyAfter(c, ['9m', '1m'], always);
  }),

  test('the lockAtLeastFor of the holder counts, not that of the next caller (P5)', async (c) => {
    await released(c.provider);
    await released(c.provider, AT_LEAST);
    await refused(c.other);
  }),
]);

/** A holder that sends nothing more leaves its `lockAtLeastFor` in the store. */
export const atLeastAfterCrash = needing(['atLeastAfterCrash'], (test) => [
  test('a short extension and a crash do not undercut lockAtLeastFor (P5)', async (c) => {
    const lock = await granted(c.provider, AT_LEAST);
    assert.equal(await lock.extend('30s'), true);
    await freeOnlyAfter(c, ['1m', '1m'], AT_LEAST);
  }),
]);
