import assert from 'node:assert/strict';
import type { Lock, LockProvider } from '../../core';
import { granted, refused, released } from './assertions';
import { needing } from './fixture';

/** As many as a store would send together. */
const NAMES = Array.from({ length: 20 }, (_, index) => `job-${index}`);

/** What is decided by a plain read is wrong behind a proxy that sends plain reads to a replica. */
export const staleReads = needing(['staleReads'], (test) => [
  test('with stale reads, a new lock is granted, released and granted again (P4, F-36)', async (c) => {
    await c.staleReads();
    for (const provider of [c.provider, c.other, c.provider]) await released(provider);
  }),

  test('with stale reads, a held lock is refused (P1, F-36)', async (c) => {
    await c.staleReads();
    await granted(c.other);
    await refused(c.provider);
    await refused(c.provider);
  }),

  test('with stale reads, each free lock of many is granted, and each held one refused (P4, F-36)', async (c) => {
    await c.staleReads();
    const held = NAMES.filter((_, index) => index % 3 === 1);
    await locksOf(c.other, held);
    for (const round of ['new locks', 'known locks']) {
      const locks = await locksOf(c.provider, NAMES);
      const missed = NAMES.filter((name) => !locks.has(name));
      assert.deepEqual(missed, held, round);
      const answers = await Promise.all([...locks.values()].map((lock) => lock.unlock()));
      assert.ok(!answers.includes(false), round);
    }
  }),

  test('with stale reads, leases are extended and released, but not a lost one (P6, F-36)', async (c) => {
    await c.staleReads();
    const [lost = '', ...kept] = NAMES;
    const short = await granted(c.provider, { name: lost, lockAtMostFor: '1m' });
    const locks = [...(await locksOf(c.provider, kept)).values(), short];
    await c.elapse('2m');
    await granted(c.other, { name: lost, lockAtMostFor: '10m' });
    const expected = [...kept.map(() => true), false];
    assert.deepEqual(await Promise.all(locks.map((lock) => lock.extend('10m'))), expected);
    assert.deepEqual(await Promise.all(locks.map((lock) => lock.unlock())), expected);
    assert.equal((await locksOf(c.other, kept)).size, kept.length);
  }),
]);

/** The locks that were granted, of all that were requested at once. */
async function locksOf(provider: LockProvider, names: readonly string[]): Promise<Map<string, Lock>> {
  const locks = await Promise.all(names.map((name) => provider.lock({ name, lockAtMostFor: '10m' })));
  return new Map(names.flatMap((name, index) => (locks[index] ? [[name, locks[index]]] : [])));
}
