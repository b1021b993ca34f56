import assert from 'node:assert/strict';
import type { Lock, LockProvider } from '../../core';
import { JOB, granted, refused } from './assertions';
import { needing } from './fixture';

/** As many as a store would send together. */
const NAMES = Array.from({ length: 20 }, (_, index) => `job-${index}`);

/** What is decided by a plain read is wrong behind a proxy that sends plain reads to a replica. */
export const staleReads = needing(['staleReads'], {
  async 'with stale reads, a new lock is granted, released and granted again (P4, F-36)'(fixture) {
    const { provider, other, staleReads } = fixture;
    await staleReads();
    assert.equal(await (await granted(provider, JOB)).unlock(), true);
    assert.equal(await (await granted(other, JOB)).unlock(), true);
    assert.equal(await (await granted(provider, JOB)).unlock(), true);
  },

  async 'with stale reads, a held lock is refused (P1, F-36)'({ provider, other, staleReads }) {
    await staleReads();
    await granted(other, JOB);
    await refused(provider, JOB);
    await refused(provider, JOB);
  },

  async 'with stale reads, each free lock of many is granted, and each held one refused (P4, F-36)'(fixture) {
    const { provider, other, staleReads } = fixture;
    await staleReads();
    const held = NAMES.filter((_, index) => index % 3 === 1);
    await locksOf(other, held);
    for (const round of ['new locks', 'known locks']) {
      const locks = await locksOf(provider, NAMES);
      const missed = NAMES.filter((name) => !locks.has(name));
      assert.deepEqual(missed, held, round);
      const released = await Promise.all([...locks.values()].map((lock) => lock.unlock()));
      assert.ok(!released.includes(false), round);
    }
  },

  async 'with stale reads, leases are extended and released, but not a lost one (P6, F-36)'(fixture) {
    const { provider, other, elapse, staleReads } = fixture;
    await staleReads();
    const [lost = '', ...kept] = NAMES;
    const short = await granted(provider, { name: lost, lockAtMostFor: '1m' });
    const locks = [...(await locksOf(provider, kept)).values()];
    await elapse('2m');
    await granted(other, { name: lost, lockAtMostFor: '10m' });
    const extended = await Promise.all([...locks, short].map((lock) => lock.extend('10m')));
    assert.deepEqual(extended, [...kept.map(() => true), false]);
    const released = await Promise.all([...locks, short].map((lock) => lock.unlock()));
    assert.deepEqual(released, [...kept.map(() => true), false]);
    assert.equal((await locksOf(other, kept)).size, kept.length);
  },
});

/** The locks that were granted, of all that were requested at once. */
async function locksOf(provider: LockProvider, names: readonly string[]): Promise<Map<string, Lock>> {
  const locks = await Promise.all(names.map((name) => provider.lock({ name, lockAtMostFor: '10m' })));
  return new Map(names.flatMap((name, index) => (locks[index] ? [[name, locks[index]]] : [])));
}
