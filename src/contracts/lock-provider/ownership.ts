import assert from 'node:assert/strict';
import {
  AT_LEAST,
  assertRising,
  expired,
  freeOnlyAfter,
  granted,
  refused,
  released,
  tokenOf,
} from './assertions';
import { cases, needing } from './fixture';

export const ownership = cases((test) => [
  test('a stale holder does not release the lock of the next holder (P6)', async (c) => {
    const stale = await expired(c);
    await granted(c.other);
    assert.equal(await stale.unlock(), false);
    await refused(c.provider);
  }),

  test('a stale holder does not release the lock of the next holder in the same process (P6)', async (c) => {
    const stale = await expired(c);
    await granted(c.provider);
    assert.equal(await stale.unlock(), false);
    await refused(c.provider);
  }),

  test('a release after the end of the lease returns false, even if no other holder took over (P6)', async (c) => {
    const stale = await expired(c);
    assert.equal(await stale.unlock(), false);
    await granted(c.provider);
  }),

  test('a stale holder cannot extend, even if no other holder took over (P6)', async (c) => {
    const stale = await expired(c);
    assert.equal(await stale.extend('10m'), false);
    await granted(c.provider);
  }),

  test('a stale holder does not move the end of the next lease (P6)', async (c) => {
    const stale = await expired(c);
    await granted(c.other);
    assert.equal(await stale.extend('1h'), false);
    await freeOnlyAfter({ ...c, other: c.provider }, ['9m', '1m']);
  }),

  test('extending after the release changes nothing (P6)', async (c) => {
    const lock = await released(c.provider, AT_LEAST);
    assert.equal(await lock.extend('10m'), false);
    await refused(c.other, AT_LEAST);
  }),

  test('extending after the release does not take the lock back (P6)', async (c) => {
    const lock = await released(c.provider);
    assert.equal(await lock.extend('10m'), false);
    await granted(c.other);
  }),

  test('an extension that is requested together with the release does not take effect after it (P6)', async (c) => {
    const lock = await granted(c.provider);
    assert.deepEqual(await Promise.all([lock.unlock(), lock.extend('10m')]), [true, false]);
    await granted(c.other);
  }),

  test('a second release returns the same result and does not free the lock of the next holder (P6)', async (c) => {
    const lock = await released(c.provider);
    await granted(c.other);
    assert.equal(await lock.unlock(), true);
    await refused(c.provider);
  }),

  test('many simultaneous releases return the same result (P6)', async (c) => {
    const lock = await granted(c.provider);
    const answers = await Promise.all(Array.from({ length: 10 }, () => lock.unlock()));
    assert.deepEqual([...new Set(answers)], [true]);
    await granted(c.other);
  }),

  test('disposing of a lease releases it (P6)', async (c) => {
    const lock = await granted(c.provider);
    await lock[Symbol.asyncDispose]();
    await granted(c.other);
    assert.equal(await lock.unlock(), true);
  }),
]);

export const tokens = needing(['fencingTokens'], (test) => [
  test('a token is an integer above zero (P3)', async (c) => {
    assert.ok(tokenOf(await granted(c.provider)) > 0);
  }),

  test('tokens rise with every grant, after a release and after an expiry (P3)', async (c) => {
    const grants = [];
    for (let round = 0; round < 6; round += 1) {
      const provider = round % 2 ? c.provider : c.other;
      grants.push(await (round % 3 === 0 ? expired({ ...c, provider }) : released(provider)));
    }
    assertRising(grants);
  }),

  test('tokens rise even if grants follow each other immediately (P3)', async (c) => {
    const grants = [];
    for (let round = 0; round < 50; round += 1) grants.push(await released(round % 2 ? c.provider : c.other));
    assertRising(grants);
  }),

  test('an extension and a release do not change the token (P3)', async (c) => {
    const lock = await granted(c.provider);
    const token = tokenOf(lock);
    await lock.extend('10m');
    assert.equal(tokenOf(lock), token);
    await lock.unlock();
    assert.equal(tokenOf(lock), token);
  }),
]);
