import assert from 'node:assert/strict';
import { AT_LEAST, JOB, assertRising, freeOnlyAfter, granted, refused, tokenOf } from './assertions';
import { cases, needing } from './fixture';

/** A stale holder changes nothing. */
export const ownership = cases({
  async 'a stale holder does not release the lock of the next holder (P6)'({ provider, other, elapse }) {
    const stale = await granted(provider, JOB);
    await elapse('10m');
    await granted(other, JOB);
    assert.equal(await stale.unlock(), false);
    await refused(provider, JOB);
  },

  async 'a stale holder does not release the lock of the next holder in the same process (P6)'(fixture) {
    const { provider, elapse } = fixture;
    const stale = await granted(provider, JOB);
    await elapse('10m');
    await granted(provider, JOB);
    assert.equal(await stale.unlock(), false);
    await refused(provider, JOB);
  },

  async 'a release after the end of the lease returns false, even if no other holder took over (P6)'({
    provider,
    elapse,
  }) {
    const stale = await granted(provider, JOB);
    await elapse('10m');
    assert.equal(await stale.unlock(), false);
    await granted(provider, JOB);
  },

  async 'a stale holder cannot extend, even if no other holder took over (P6)'({ provider, elapse }) {
    const stale = await granted(provider, JOB);
    await elapse('10m');
    assert.equal(await stale.extend('10m'), false);
    await granted(provider, JOB);
  },

  async 'a stale holder does not move the end of the next lease (P6)'({ provider, other, elapse }) {
    const stale = await granted(provider, JOB);
    await elapse('10m');
    await granted(other, JOB);
    assert.equal(await stale.extend('1h'), false);
    await freeOnlyAfter({ elapse, other: provider }, ['9m', '1m']);
  },

  async 'extending after the release changes nothing (P6)'({ provider, other }) {
    const lock = await granted(provider, AT_LEAST);
    await lock.unlock();
    assert.equal(await lock.extend('10m'), false);
    await refused(other, AT_LEAST);
  },

  async 'extending after the release does not take the lock back (P6)'({ provider, other }) {
    const lock = await granted(provider, JOB);
    await lock.unlock();
    assert.equal(await lock.extend('10m'), false);
    await granted(other, JOB);
  },

  async 'an extension that is requested together with the release does not take effect after it (P6)'({
    provider,
    other,
  }) {
    const lock = await granted(provider, JOB);
    assert.deepEqual(await Promise.all([lock.unlock(), lock.extend('10m')]), [true, false]);
    await granted(other, JOB);
  },

  async 'a second release returns the same result and does not free the lock of the next holder (P6)'({
    provider,
    other,
  }) {
    const lock = await granted(provider, JOB);
    assert.equal(await lock.unlock(), true);
    await granted(other, JOB);
    assert.equal(await lock.unlock(), true);
    await refused(provider, JOB);
  },

  async 'many simultaneous releases return the same result (P6)'({ provider, other }) {
    const lock = await granted(provider, JOB);
    const answers = await Promise.all(Array.from({ length: 10 }, () => lock.unlock()));
    assert.deepEqual([...new Set(answers)], [true]);
    await granted(other, JOB);
  },

  async 'disposing of a lease releases it (P6)'({ provider, other }) {
    const lock = await granted(provider, JOB);
    await lock[Symbol.asyncDispose]();
    await granted(other, JOB);
    assert.equal(await lock.unlock(), true);
  },
});

/** Fencing tokens rise with every grant of a name. */
export const tokens = needing(['fencingTokens'], {
  async 'a token is an integer above zero (P3)'({ provider }) {
    assert.ok(tokenOf(await granted(provider, JOB)) > 0);
  },

  async 'tokens rise with every grant, after a release and after an expiry (P3)'(fixture) {
    const { provider, other, elapse } = fixture;
    const seen: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      const lock = await granted(round % 2 ? provider : other, JOB);
      seen.push(tokenOf(lock));
      if (round % 3 === 0) await elapse('10m');
      else await lock.unlock();
    }
    assertRising(seen);
  },

  async 'tokens rise even if grants follow each other immediately (P3)'({ provider, other }) {
    const seen: number[] = [];
    for (let round = 0; round < 50; round += 1) {
      const lock = await granted(round % 2 ? provider : other, JOB);
      seen.push(tokenOf(lock));
      await lock.unlock();
    }
    assertRising(seen);
  },

  async 'an extension and a release do not change the token (P3)'({ provider }) {
    const lock = await granted(provider, JOB);
    const token = tokenOf(lock);
    await lock.extend('10m');
    assert.equal(tokenOf(lock), token);
    await lock.unlock();
    assert.equal(tokenOf(lock), token);
  },
});
