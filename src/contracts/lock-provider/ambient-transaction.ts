import assert from 'node:assert/strict';
import type { Lock } from '../../core';
import { AT_LEAST, JOB, expired, granted, refused, released } from './assertions';
import { needing } from './fixture';
import { RandomUse } from './random-use';

/** The lock does not depend on the outcome of the transaction that the caller is in. */
export const ambientTransactions = needing(['ambientTransaction'], (test) => [
  test('other instances see a grant inside a transaction at once (P8)', async (c) => {
    await c.ambientTransaction('commit', async () => {
      await granted(c.provider);
      await refused(c.other);
    });
  }),

  test('a grant stays when the transaction of its caller is rolled back (P8)', async (c) => {
    let lock: Lock | undefined;
    await c.ambientTransaction('rollback', async () => void (lock = await granted(c.provider)));
    await refused(c.other);
    assert.equal(await lock?.unlock(), true);
  }),

  test('a takeover stays when the transaction of its caller is rolled back (P8)', async (c) => {
    const stale = await expired({ ...c, provider: c.other });
    await c.ambientTransaction('rollback', async () => void (await granted(c.provider)));
    await refused(c.other);
    assert.equal(await stale.unlock(), false);
  }),

  test('an extension and a release stay when the transactions of their callers are rolled back (P8)', async (c) => {
    const lock = await granted(c.provider);
    await c.ambientTransaction('rollback', async () => assert.equal(await lock.extend('20m'), true));
    await c.elapse('19m');
    await refused(c.other);
    assert.equal(lock.signal.aborted, false);
    await c.ambientTransaction('rollback', async () => assert.equal(await lock.unlock(), true));
    await granted(c.other);
  }),

  test('lockAtLeastFor stays in force when the transaction of its caller is rolled back (P8)', async (c) => {
    await c.ambientTransaction('rollback', async () => void (await released(c.provider, AT_LEAST)));
    await refused(c.other, AT_LEAST);
  }),

  test('a caller inside a transaction sees a release that happened after its transaction began (P8)', async (c) => {
    const lock = await granted(c.other);
    await c.ambientTransaction('rollback', async () => {
      await refused(c.provider);
      await lock.unlock();
      await granted(c.provider);
    });
    await refused(c.other);
  }),

  test('random use inside transactions gives the same results as without transactions (P8)', async (c) => {
    const use = new RandomUse(c, c.random, JOB.name);
    for (const end of ['rollback', 'commit', 'rollback'] as const) {
      await c.ambientTransaction(end, () => use.steps(40));
      await use.steps(10);
    }
  }),
]);
