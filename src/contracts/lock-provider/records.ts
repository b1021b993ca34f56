import assert from 'node:assert/strict';
import { type Lock, type LockObserver, type LockProvider, LockStorageError } from '../../core';
import { JOB, SECOND, assertRising, freeOnlyAfter, granted, refused, released } from './assertions';
import { needing } from './fixture';

const MINUTE_MS = 60_000;
/** A record of JOB that ShedLock for Java wrote, which uses host names as owners. */
const FOREIGN = { name: JOB.name, lockedBy: 'billing-7f9c.example.com', endsInMs: 5 * MINUTE_MS };

/** Records that exist already: written by hand, or by another program. */
export const existingRecords = [
  ...needing(['existingRecord'], (test) => [
    test('a lock that another program holds is refused until its record expires (P1)', async (c) => {
      await c.existingRecord(FOREIGN);
      await refused(c.provider);
      await freeOnlyAfter(c, ['4m', '1m']);
      await refused(c.provider);
    }),

    test('a record that has just expired, or did so long ago, is taken over (P4)', async (c) => {
      for (const endsInMs of [-1, -500 * 24 * 60 * MINUTE_MS]) {
        await c.existingRecord({ ...FOREIGN, endsInMs });
        const lock = await granted(c.provider);
        await refused(c.other);
        assert.equal(await lock.unlock(), true);
      }
    }),

    test('a record without an owner is held until it expires, and then free (P4)', async (c) => {
      await c.existingRecord({ name: JOB.name, lockedBy: '', endsInMs: -MINUTE_MS });
      await c.existingRecord({ name: SECOND.name, lockedBy: '', endsInMs: MINUTE_MS });
      await granted(c.provider);
      await refused(c.provider, SECOND);
    }),

    test('a holder whose record was given to another by hand has lost the lock and leaves the record alone (P6, F-62)', async (c) => {
      const lock = await granted(c.provider);
      await c.existingRecord(FOREIGN);
      assert.equal(await lock.extend('10m'), false);
      assert.equal(lock.signal.aborted, true);
      assert.equal(await lock.unlock(), false);
      await refused(c.other);
    }),
  ]),

  ...needing(['existingRecord', 'fencingTokens'], (test) => [
    test('tokens rise from a record that has none (P3)', async (c) => {
      await c.existingRecord({ ...FOREIGN, endsInMs: -MINUTE_MS });
      const first = await released(c.provider);
      assertRising([0, first, await granted(c.other)]);
    }),
  ]),

  ...needing(['existingRecord', 'observer'], (test) => [
    test('a refused caller can learn who holds the lock, and until when (P1)', async (c) => {
      await c.existingRecord(FOREIGN);
      const holders: { heldBy: string; heldUntil: Date }[] = [];
      const observer: LockObserver = { refused: (holder) => void holders.push(holder) };
      // The provider reads the holder once a minute: in the second attempt at the latest.
      assert.equal(await c.provider.lock(JOB, observer), undefined);
      await c.elapse('1m');
      assert.equal(await c.provider.lock(JOB, observer), undefined);
      assert.equal(holders.at(-1)?.heldBy, FOREIGN.lockedBy);
      assert.ok(holders.at(-1)?.heldUntil instanceof Date);
    }),
  ]),
];

/** An operator has deleted a record. A provider that remembers the record checks for it within a minute. */
export const deletedRecords = [
  ...needing(['deleteRecord'], (test) => [
    test('a record that was deleted while the lock was free is recreated within a minute (P4, F-61)', async (c) => {
      await released(c.provider);
      await c.deleteRecord(JOB.name);
      await c.elapse('1m');
      await granted(c.provider);
      await refused(c.other);
    }),

    test('a record that was deleted while the lock was refused is recreated within a minute (P4, F-61)', async (c) => {
      await granted(c.provider);
      await refused(c.other);
      await c.deleteRecord(JOB.name);
      await c.elapse('1m');
      await granted(c.other);
    }),

    test('an extension that finds no record aborts the signal (P2, F-60)', async (c) => {
      const lock = await granted(c.provider);
      await c.deleteRecord(JOB.name);
      assert.equal(await lock.extend('10m'), false);
      assert.equal(lock.signal.aborted, true);
    }),

    test('a release that finds no record never returns true, and is settled when the lease ends (P6, F-60)', async (c) => {
      const lock = await granted(c.provider);
      await c.deleteRecord(JOB.name);
      const release = lock.unlock().catch((error: unknown) => {
        assert.ok(error instanceof LockStorageError);
        return false;
      });
      // A store that keeps its records sends the release again until the lease ends. Others have settled it
      // long before.
      let isSettled = false;
      void release.then(() => (isSettled = true));
      for (let i = 0; i < 20 && !isSettled; i += 1)
        await released(c.provider, { ...JOB, name: `another-${i}` });
      if (!isSettled) await c.elapse('10m');
      assert.equal(await release, false);
    }),

    test('a holder whose record was deleted does not touch the record of the next holder (P6, F-60)', async (c) => {
      const stale = await granted(c.provider);
      await c.deleteRecord(JOB.name);
      await granted(c.other);
      assert.equal(await stale.extend('1h'), false);
      assert.equal(await stale.unlock(), false);
      await refused(c.provider);
    }),
  ]),

  ...needing(['deleteRecord', 'fencingTokens'], (test) => [
    test('tokens also rise after the record of a held or a free lock was deleted (P3, F-60, F-61)', async (c) => {
      const grants: Lock[] = [];
      for (const grant of [granted, released, granted]) {
        grants.push(await grant(c.provider));
        await c.deleteRecord(JOB.name);
        await c.elapse('1m');
      }
      assertRising(grants);
    }),
  ]),
];

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
