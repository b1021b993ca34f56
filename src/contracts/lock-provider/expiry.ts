import assert from 'node:assert/strict';
import { JOB, AT_LEAST, granted, refused } from './asserting';
import { cases } from './contract-cases';

/** The lock of a holder that crashed becomes free, at its time. */
export const expiry = cases({
  async 'P4 the lock of a holder that vanished is granted when lockAtMostFor has passed, not before'({
    provider,
    other,
    elapse,
  }) {
    await granted(provider, JOB);
    await elapse('9m');
    await refused(other, JOB);
    await elapse('1m');
    await granted(other, JOB);
  },

  async 'P4 it is granted to the same process as well'({ provider, elapse }) {
    await granted(provider, JOB);
    await elapse('9m');
    await refused(provider, JOB);
    await elapse('1m');
    await granted(provider, JOB);
  },

  async 'P4 an expired lock that was taken over lasts for the lockAtMostFor of its new holder'({
    provider,
    other,
    elapse,
  }) {
    await granted(provider, JOB);
    await elapse('10m');
    await granted(other, { ...JOB, lockAtMostFor: '3m' });
    await elapse('2m');
    await refused(provider, JOB);
    await elapse('1m');
    await granted(provider, JOB);
  },

  async 'P4 refusals do not prolong the wait'({ provider, other, elapse }) {
    await granted(provider, JOB);
    for (let minute = 0; minute < 10; minute += 1) {
      await refused(other, JOB);
      await elapse('1m');
    }
    await granted(other, JOB);
  },

  async 'P4 with lockAtLeastFor a vanished holder blocks no longer than lockAtMostFor'({
    provider,
    other,
    elapse,
  }) {
    await granted(provider, AT_LEAST);
    await elapse('9m');
    await refused(other, AT_LEAST);
    await elapse('1m');
    await granted(other, AT_LEAST);
  },

  async 'P4 the longest lease, of 365 days, is held on its last day'({ provider, other, elapse }) {
    const year = { ...JOB, lockAtMostFor: '365d' };
    const lock = await granted(provider, year);
    await elapse('364d');
    assert.equal(lock.signal.aborted, false);
    await refused(other, year);
    await elapse('1d');
    await granted(other, year);
  },

  async 'P4 durations may be numbers, sums and ISO 8601'({ provider, other, elapse }) {
    for (const lockAtMostFor of [90_000, '1m30s', '90s', 'PT1M30S']) {
      await granted(provider, { ...JOB, lockAtMostFor });
      await elapse('80s');
      await refused(other, JOB);
      await elapse('10s');
    }
    await granted(other, JOB);
  },
});
