import assert from 'node:assert/strict';
import { InvalidLockConfigurationError } from '../../core';
import { AT_LEAST, JOB, expired, freeAfter, freeOnlyAfter, granted, refused, released } from './assertions';
import { cases, needing } from './fixture';

/** The lock of a crashed holder becomes free when its lease expires. */
export const expiry = cases((test) => [
  test('the lock of a crashed holder is granted when lockAtMostFor has passed, not before (P4)', async (c) => {
    await granted(c.provider);
    await freeOnlyAfter(c, ['9m', '1m']);
  }),

  test('an expired lock that was taken over lasts for the lockAtMostFor of its new holder (P4)', async (c) => {
    await expired(c);
    await granted(c.other, { ...JOB, lockAtMostFor: '3m' });
    await freeOnlyAfter({ ...c, other: c.provider }, ['2m', '1m']);
  }),

  test('refusals do not prolong the wait (P4)', async (c) => {
    await granted(c.provider);
    for (let minute = 0; minute < 10; minute += 1) {
      await refused(c.other);
      await c.elapse('1m');
    }
    await granted(c.other);
  }),

  test('with lockAtLeastFor, a crashed holder blocks no longer than lockAtMostFor (P4)', async (c) => {
    await granted(c.provider, AT_LEAST);
    await freeOnlyAfter(c, ['9m', '1m'], AT_LEAST);
  }),

  test('a lease of 365 days, the longest, is still held on its last day (P4)', async (c) => {
    const year = { ...JOB, lockAtMostFor: '365d' };
    const lock = await granted(c.provider, year);
    await freeOnlyAfter(c, ['364d', '1d'], year, lock);
  }),

  test('durations can be numbers, sums and ISO 8601 (P4)', async (c) => {
    for (const lockAtMostFor of [90_000, '1m30s', '90s', 'PT1M30S']) {
      await granted(c.provider, { ...JOB, lockAtMostFor });
      await c.elapse('80s');
      await refused(c.other);
      await c.elapse('10s');
    }
    await granted(c.other);
  }),
]);

/** Some stores round a lease up to whole seconds. */
export const exactExpiry = needing(['exactExpiry'], (test) => [
  test('a lease that is not a whole number of seconds ends no later than lockAtMostFor (P4)', async (c) => {
    await granted(c.provider, { ...JOB, lockAtMostFor: '1m30s500ms' });
    await freeOnlyAfter(c, ['80s', '10s500ms']);
  }),
]);

export const extending = cases((test) => [
  test('extend moves the end of the lease to now + lockAtMostFor, also by more than its first length (P4)', async (c) => {
    const lock = await granted(c.provider);
    await c.elapse('5m');
    assert.equal(await lock.extend('2h'), true);
    await freeOnlyAfter(c, ['119m', '1m'], JOB, lock);
  }),

  test('a lease can be extended again and again (P4)', async (c) => {
    const lock = await granted(c.provider);
    for (let extension = 1; extension <= 5; extension += 1) {
      await c.elapse('9m');
      assert.equal(await lock.extend('10m'), true);
    }
    await c.elapse('9m');
    await refused(c.other);
    assert.equal(await lock.unlock(), true);
    await granted(c.other);
  }),

  test('a lease can be shortened (P4)', async (c) => {
    const lock = await granted(c.provider);
    assert.equal(await lock.extend('1m'), true);
    await c.elapse('1m');
    assert.equal(lock.signal.aborted, true);
    await granted(c.other);
  }),

  test('an invalid extension is refused, and changes nothing (P7)', async (c) => {
    const lock = await granted(c.provider);
    for (const wrong of [0, -1, NaN, Infinity, '10', '', '-1m', 'P1M', 'soon', '366d', undefined, null]) {
      const extend = async () => await lock.extend(wrong as string);
      await assert.rejects(extend, InvalidLockConfigurationError, `extend(${String(wrong)})`);
    }
    await freeOnlyAfter(c, ['9m', '1m'], JOB, lock);
  }),
]);

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
