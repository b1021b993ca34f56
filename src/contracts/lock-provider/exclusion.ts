import assert from 'node:assert/strict';
import { LockingTaskExecutor } from '../../core';
import { JOB, granted, refused } from './asserting';
import { cases } from './contract-cases';

/** One holder at a time. */
export const exclusion = cases({
  async 'P1 a lock that nobody holds is granted, under its name'({ provider }) {
    assert.equal((await granted(provider, JOB)).name, JOB.name);
  },

  async 'P1 a held lock is refused to another instance'({ provider, other }) {
    await granted(provider, JOB);
    await refused(other, JOB);
  },

  async 'P1 a held lock is refused to the same provider: acquisitions own, not processes'({ provider }) {
    await granted(provider, JOB);
    await refused(provider, JOB);
  },

  async 'P1 a refusal leaves the holder what it has'({ provider, other }) {
    const lock = await granted(provider, JOB);
    await refused(other, JOB);
    assert.equal(await lock.extend('10m'), true);
    await refused(other, JOB);
    assert.equal(await lock.unlock(), true);
  },

  async 'P1 lock() inside its own lease is refused: it is never re-entrant'({ provider }) {
    const outer = new LockingTaskExecutor(provider);
    const result = await outer.executeWithLock(() => refused(provider, JOB), JOB);
    assert.equal(result.executed, true);
  },

  async 'P1 a released lock is granted to the same provider'({ provider }) {
    assert.equal(await (await granted(provider, JOB)).unlock(), true);
    await granted(provider, JOB);
  },

  async 'P1 a released lock is granted to another instance'({ provider, other }) {
    assert.equal(await (await granted(provider, JOB)).unlock(), true);
    await granted(other, JOB);
    await refused(provider, JOB);
  },

  async 'P1 a released lock is granted at once, ten times in a row'({ provider, other }) {
    for (let round = 0; round < 10; round += 1) {
      const lock = await granted(round % 2 ? provider : other, JOB);
      assert.equal(await lock.unlock(), true);
    }
  },

  async 'P1 two names are two locks'({ provider, other }) {
    const second = { ...JOB, name: 'contract-2' };
    const lock = await granted(provider, JOB);
    await granted(other, second);
    await lock.unlock();
    await refused(provider, second);
    await granted(other, JOB);
  },

  async 'P1 both instances name the same place'({ provider, other }) {
    await granted(provider, JOB);
    await refused(other, JOB);
    assert.equal(provider.id, other.id);
  },

  async 'P1 a lock of the same name in another place is another lock'({ provider, other }, { anotherPlace }) {
    await granted(provider, JOB);
    const elsewhere = await anotherPlace();
    await (await granted(elsewhere.provider, JOB)).unlock();
    await refused(other, JOB);
    await granted(elsewhere.other, JOB);
  },
});
