import assert from 'node:assert/strict';
import { InvalidLockConfigurationError } from '../../core';
import { AT_LEAST, JOB, freeOnlyAfter, granted, refused } from './assertions';
import { cases, needing } from './fixture';

/** The lock of a crashed holder becomes free when its lease expires. */
export const expiry = cases({
  async 'the lock of a crashed holder is granted when lockAtMostFor has passed, not before (P4)'(fixture) {
    await granted(fixture.provider, JOB);
    await freeOnlyAfter(fixture, ['9m', '1m']);
  },

  async 'the lock of a crashed holder is also granted to the same process (P4)'({ provider, elapse }) {
    await granted(provider, JOB);
    await freeOnlyAfter({ elapse, other: provider }, ['9m', '1m']);
  },

  async 'an expired lock that was taken over lasts for the lockAtMostFor of its new holder (P4)'(fixture) {
    const { provider, other, elapse } = fixture;
    await granted(provider, JOB);
    await elapse('10m');
    await granted(other, { ...JOB, lockAtMostFor: '3m' });
    await freeOnlyAfter({ elapse, other: provider }, ['2m', '1m']);
  },

  async 'refusals do not prolong the wait (P4)'({ provider, other, elapse }) {
    await granted(provider, JOB);
    for (let minute = 0; minute < 10; minute += 1) {
      await refused(other, JOB);
      await elapse('1m');
    }
    await granted(other, JOB);
  },

  async 'with lockAtLeastFor, a crashed holder blocks no longer than lockAtMostFor (P4)'(fixture) {
    await granted(fixture.provider, AT_LEAST);
    await freeOnlyAfter(fixture, ['9m', '1m'], AT_LEAST);
  },

  async 'a lease of 365 days, the longest, is still held on its last day (P4)'(fixture) {
    const year = { ...JOB, lockAtMostFor: '365d' };
    const lock = await granted(fixture.provider, year);
    await freeOnlyAfter(fixture, ['364d', '1d'], year, lock);
  },

  async 'durations can be numbers, sums and ISO 8601 (P4)'({ provider, other, elapse }) {
    for (const lockAtMostFor of [90_000, '1m30s', '90s', 'PT1M30S']) {
      await granted(provider, { ...JOB, lockAtMostFor });
      await elapse('80s');
      await refused(other, JOB);
      await elapse('10s');
    }
    await granted(other, JOB);
  },
});

/** Some stores round a lease up to whole seconds. */
export const exactExpiry = needing(['exactExpiry'], {
  async 'a lease that is not a whole number of seconds ends no later than lockAtMostFor (P4)'(fixture) {
    await granted(fixture.provider, { ...JOB, lockAtMostFor: '1m30s500ms' });
    await freeOnlyAfter(fixture, ['80s', '10s500ms']);
  },
});

/** A holder changes the end of its lease. */
export const extending = cases({
  async 'extend moves the end of the lease to now + lockAtMostFor (P4)'(fixture) {
    const lock = await granted(fixture.provider, JOB);
    await fixture.elapse('5m');
    assert.equal(await lock.extend('10m'), true);
    await freeOnlyAfter(fixture, ['9m', '1m'], JOB, lock);
  },

  async 'a lease can be extended again and again (P4)'({ provider, other, elapse }) {
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

  async 'a lease can be extended by more than its first length (P4)'(fixture) {
    const lock = await granted(fixture.provider, JOB);
    assert.equal(await lock.extend('2h'), true);
    await freeOnlyAfter(fixture, ['119m', '1m'], JOB, lock);
  },

  async 'a lease can be shortened (P4)'({ provider, other, elapse }) {
    const lock = await granted(provider, JOB);
    assert.equal(await lock.extend('1m'), true);
    await elapse('1m');
    assert.equal(lock.signal.aborted, true);
    await granted(other, JOB);
  },

  async 'an extended lease is free after its release (P4)'({ provider, other }) {
    const lock = await granted(provider, JOB);
    assert.equal(await lock.extend('1h'), true);
    assert.equal(await lock.unlock(), true);
    await granted(other, JOB);
  },

  async 'an invalid extension is refused, and changes nothing (P7)'(fixture) {
    const lock = await granted(fixture.provider, JOB);
    for (const wrong of [0, -1, NaN, Infinity, '10', '', '-1m', 'P1M', 'soon', '366d', undefined, null])
      await assert.rejects(
        async () => await lock.extend(wrong as string),
        InvalidLockConfigurationError,
        `extend(${String(wrong)})`,
      );
    await freeOnlyAfter(fixture, ['9m', '1m'], JOB, lock);
  },
});
