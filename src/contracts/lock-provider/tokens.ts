import assert from 'node:assert/strict';
import { JOB, assertRising, granted, tokenOf } from './asserting';
import { needing } from './contract-cases';

/** Fencing tokens rise with every grant of a name. */
export const tokens = needing(['fencingTokens'], {
  async 'P3 a token is a whole number above zero'({ provider }) {
    assert.ok(tokenOf(await granted(provider, JOB)) > 0);
  },

  async 'P3 tokens rise with every grant, whether released or expired'({ provider, other, elapse }) {
    const seen: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      const lock = await granted(round % 2 ? provider : other, JOB);
      seen.push(tokenOf(lock));
      if (round % 3 === 0) await elapse('10m');
      else await lock.unlock();
    }
    assertRising(seen);
  },

  async 'P3 tokens rise in grants as fast as they come'({ provider, other }) {
    const seen: number[] = [];
    for (let round = 0; round < 50; round += 1) {
      const lock = await granted(round % 2 ? provider : other, JOB);
      seen.push(tokenOf(lock));
      await lock.unlock();
    }
    assertRising(seen);
  },

  async 'P3 an extension and a release leave the token as it is'({ provider }) {
    const lock = await granted(provider, JOB);
    const token = tokenOf(lock);
    await lock.extend('10m');
    assert.equal(tokenOf(lock), token);
    await lock.unlock();
    assert.equal(tokenOf(lock), token);
  },
});
