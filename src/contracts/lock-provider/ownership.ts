import assert from 'node:assert/strict';
import type { Lock } from '../../core';
import {
  AT_LEAST,
  assertRising,
  expired,
  freeAfter,
  freeOnlyAfter,
  granted,
  refused,
  released,
  tokenOf,
} from './assertions';
import { cases, needing } from './fixture';

export const ownership = cases((test) => [
  test('a stale holder does not release the lock of the next holder, in any process (P6)', async (c) => {
    for (const next of [c.other, c.provider]) {
      const stale = await expired(c);
      const lock = await granted(next);
      assert.equal(await stale.unlock(), false);
      await refused(c.provider);
      assert.equal(await lock.unlock(), true);
    }
  }),

  test('a stale holder can neither extend nor release, even if no other holder took over (P6)', async (c) => {
    const stale = await expired(c);
    assert.equal(await stale.extend('10m'), false);
    assert.equal(await stale.unlock(), false);
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
    await freeAfter(c, '2m', AT_LEAST);
  }),

  test('an extension that is requested together with the release does not take effect after it (P6)', async (c) => {
    const lock = await granted(c.provider);
    assert.deepEqual(await Promise.all([lock.unlock(), lock.extend('10m')]), [true, false]);
    await granted(c.other);
  }),

  test('further releases return the same result and do not free the lock of the next holder (P6)', async (c) => {
    const lock = await granted(c.provider);
    assert.deepEqual(await Promise.all([lock.unlock(), lock.unlock()]), [true, true]);
    await granted(c.other);
    assert.equal(await lock.unlock(), true);
    await refused(c.provider);
  }),

  test('disposing of a lease releases it (P6)', async (c) => {
    const lock = await granted(c.provider);
    await lock[Symbol.asyncDispose]();
    await granted(c.other);
    assert.equal(await lock.unlock(), true);
  }),
]);

export const tokens = needing(['fencingTokens'], (test) => [
  test('tokens are integers above zero that rise with every grant, after a release and after an expiry (P3)', async (c) => {
    const grants: (Lock | number)[] = [0];
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
