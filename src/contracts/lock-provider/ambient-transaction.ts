import assert from 'node:assert/strict';
import type { Lock } from '../../core';
import { JOB, AT_LEAST, granted, refused } from './assertions';
import { needing } from './fixture';
import { RandomUse } from './random-use';

/** The lock does not depend on the outcome of the transaction that the caller is in. */
export const ambientTransactions = needing(['ambientTransaction'], {
  async 'other instances see a grant inside a transaction at once (P8)'(fixture) {
    const { provider, other, ambientTransaction } = fixture;
    await ambientTransaction('commit', async () => {
      await granted(provider, JOB);
      await refused(other, JOB);
    });
  },

  async 'a grant stays when the transaction of its caller is rolled back (P8)'(fixture) {
    const { provider, other, ambientTransaction } = fixture;
    let lock: Lock | undefined;
    await ambientTransaction('rollback', async () => void (lock = await granted(provider, JOB)));
    await refused(other, JOB);
    assert.equal(await lock?.unlock(), true);
  },

  async 'a takeover stays when the transaction of its caller is rolled back (P8)'(fixture) {
    const { provider, other, elapse, ambientTransaction } = fixture;
    const stale = await granted(other, JOB);
    await elapse('10m');
    await ambientTransaction('rollback', async () => void (await granted(provider, JOB)));
    await refused(other, JOB);
    assert.equal(await stale.unlock(), false);
  },

  async 'an extension stays when the transaction of its caller is rolled back (P8)'(fixture) {
    const { provider, other, elapse, ambientTransaction } = fixture;
    const lock = await granted(provider, JOB);
    await ambientTransaction('rollback', async () => assert.equal(await lock.extend('20m'), true));
    await elapse('19m');
    await refused(other, JOB);
    assert.equal(lock.signal.aborted, false);
  },

  async 'a release stays when the transaction of its caller is rolled back (P8)'(fixture) {
    const { provider, other, ambientTransaction } = fixture;
    const lock = await granted(provider, JOB);
    await ambientTransaction('rollback', async () => assert.equal(await lock.unlock(), true));
    await granted(other, JOB);
  },

  async 'lockAtLeastFor stays in force when the transaction of its caller is rolled back (P8)'(fixture) {
    const { provider, other, ambientTransaction } = fixture;
    await ambientTransaction('rollback', async () => {
      assert.equal(await (await granted(provider, AT_LEAST)).unlock(), true);
    });
    await refused(other, AT_LEAST);
  },

  async 'a caller inside a transaction sees a release that happened after its transaction began (P8)'({
    provider,
    other,
    ambientTransaction,
  }) {
    const lock = await granted(other, JOB);
    await ambientTransaction('rollback', async () => {
      await refused(provider, JOB);
      await lock.unlock();
      await granted(provider, JOB);
    });
    await refused(other, JOB);
  },

  async 'random use inside transactions gives the same results as without transactions (P8)'(
    { provider, other, elapse, ambientTransaction },
    { random },
  ) {
    const use = new RandomUse({ provider, other, elapse }, random, JOB.name);
    for (const end of ['rollback', 'commit', 'rollback'] as const) {
      await ambientTransaction(end, () => use.steps(40));
      await use.steps(10);
    }
  },
});
