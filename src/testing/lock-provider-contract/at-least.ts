import assert from 'node:assert/strict';
import { JOB, AT_LEAST, granted, refused, type ContractCases } from './asserting';

/** No new run before lockAtLeastFor. */
export const atLeast: ContractCases = {
  async 'P5 no grant before lockAtLeastFor, although the job has ended'({ provider, other, elapse }) {
    assert.equal(await (await granted(provider, AT_LEAST)).unlock(), true);
    await elapse('1m');
    await refused(other, AT_LEAST);
    await elapse('1m');
    await granted(other, AT_LEAST);
  },

  async 'P5 a short extend does not undercut lockAtLeastFor'({ provider, other, elapse }) {
    const lock = await granted(provider, AT_LEAST);
    assert.equal(await lock.extend('30s'), true);
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
};
