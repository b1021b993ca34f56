import assert from 'node:assert/strict';
import { LockStorageError } from '../../core';
import { JOB, RecordingObserver, assertRising, freeOnlyAfter, granted, refused, tokenOf } from './assertions';
import { needing } from './fixture';

const MINUTE_MS = 60_000;
const HOST = 'billing-7f9c.example.com';

/** Records that exist already: written by hand, or by ShedLock for Java, which uses host names as owners. */
export const existingRecords = [
  ...needing(['existingRecord'], {
    async 'a lock that another program holds is refused until its record expires (P1)'(fixture) {
      const { provider, existingRecord } = fixture;
      await existingRecord({ name: JOB.name, lockedBy: HOST, endsInMs: 5 * MINUTE_MS });
      await refused(provider, JOB);
      await freeOnlyAfter(fixture, ['4m', '1m']);
      await refused(provider, JOB);
    },

    async 'a record that expired long ago is taken over (P4)'({ provider, other, existingRecord }) {
      await existingRecord({ name: JOB.name, lockedBy: HOST, endsInMs: -500 * 24 * 60 * MINUTE_MS });
      await granted(provider, JOB);
      await refused(other, JOB);
    },

    async 'a record that has just expired is taken over (P4)'({ provider, other, existingRecord }) {
      await existingRecord({ name: JOB.name, lockedBy: HOST, endsInMs: -1 });
      const lock = await granted(provider, JOB);
      await refused(other, JOB);
      assert.equal(await lock.unlock(), true);
    },

    async 'a record without an owner is held until it expires, and then free (P4)'(fixture) {
      const { provider, existingRecord } = fixture;
      const second = { ...JOB, name: 'contract-2' };
      await existingRecord({ name: JOB.name, lockedBy: '', endsInMs: -MINUTE_MS });
      await existingRecord({ name: second.name, lockedBy: '', endsInMs: MINUTE_MS });
      await granted(provider, JOB);
      await refused(provider, second);
    },

    async 'a holder whose record was given to another by hand has lost the lock and leaves the record alone (P6, F-62)'({
      provider,
      other,
      existingRecord,
    }) {
      const lock = await granted(provider, JOB);
      await existingRecord({ name: JOB.name, lockedBy: HOST, endsInMs: 5 * MINUTE_MS });
      assert.equal(await lock.extend('10m'), false);
      assert.equal(lock.signal.aborted, true);
      assert.equal(await lock.unlock(), false);
      await refused(other, JOB);
    },

    async 'a holder whose record was ended by hand has lost the lock (P6, F-62)'(fixture) {
      const { provider, other, existingRecord } = fixture;
      const lock = await granted(provider, JOB);
      await existingRecord({ name: JOB.name, lockedBy: HOST, endsInMs: -1 });
      await granted(other, JOB);
      assert.equal(await lock.unlock(), false);
      await refused(provider, JOB);
    },
  }),

  ...needing(['existingRecord', 'fencingTokens'], {
    async 'tokens rise from a record that has none (P3)'({ provider, other, existingRecord }) {
      await existingRecord({ name: JOB.name, lockedBy: HOST, endsInMs: -MINUTE_MS });
      const first = await granted(provider, JOB);
      await first.unlock();
      assertRising([0, tokenOf(first), tokenOf(await granted(other, JOB))]);
    },
  }),

  ...needing(['existingRecord', 'observer'], {
    async 'a refused caller can learn who holds the lock, and until when (P1)'(fixture) {
      const { provider, existingRecord, elapse } = fixture;
      await existingRecord({ name: JOB.name, lockedBy: HOST, endsInMs: 5 * MINUTE_MS });
      const observer = new RecordingObserver();
      // The provider reads the holder once a minute: in the second attempt at the latest.
      assert.equal(await provider.lock(JOB, observer), undefined);
      await elapse('1m');
      assert.equal(await provider.lock(JOB, observer), undefined);
      assert.equal(observer.holder?.heldBy, HOST);
      assert.ok(observer.holder?.heldUntil instanceof Date);
    },
  }),
];

/**
 * An operator has deleted the record of a lock. A provider that remembers the record checks for it again
 * within a minute.
 */
export const deletedRecords = [
  ...needing(['deleteRecord'], {
    async 'a record that was deleted while the lock was free is recreated within a minute (P4, F-61)'({
      provider,
      other,
      deleteRecord,
      elapse,
    }) {
      await (await granted(provider, JOB)).unlock();
      await deleteRecord(JOB.name);
      await elapse('1m');
      await granted(provider, JOB);
      await refused(other, JOB);
    },

    async 'a record that was deleted while the lock was refused is recreated within a minute (P4, F-61)'({
      provider,
      other,
      deleteRecord,
      elapse,
    }) {
      await granted(provider, JOB);
      await refused(other, JOB);
      await deleteRecord(JOB.name);
      await elapse('1m');
      await granted(other, JOB);
    },

    async 'an extension that finds no record aborts the signal (P2, F-60)'({ provider, deleteRecord }) {
      const lock = await granted(provider, JOB);
      await deleteRecord(JOB.name);
      assert.equal(await lock.extend('10m'), false);
      assert.equal(lock.signal.aborted, true);
    },

    async 'a release that finds no record never returns true, and is settled when the lease ends (P6, F-60)'({
      provider,
      elapse,
      deleteRecord,
    }) {
      const lock = await granted(provider, JOB);
      await deleteRecord(JOB.name);
      const release = lock.unlock().catch((error: unknown) => {
        assert.ok(error instanceof LockStorageError);
        return false;
      });
      // A store that keeps its records sends the release again until the lease ends. Others have settled it long before.
      let isSettled = false;
      void release.then(() => (isSettled = true));
      for (let i = 0; i < 20 && !isSettled; i += 1)
        await (await granted(provider, { ...JOB, name: `another-${i}` })).unlock();
      if (!isSettled) await elapse('10m');
      assert.equal(await release, false);
    },

    async 'a holder whose record was deleted does not touch the record of the next holder (P6, F-60)'({
      provider,
      other,
      deleteRecord,
    }) {
      const stale = await granted(provider, JOB);
      await deleteRecord(JOB.name);
      await granted(other, JOB);
      assert.equal(await stale.extend('1h'), false);
      assert.equal(await stale.unlock(), false);
      await refused(provider, JOB);
    },

    async 'deleting one record does not affect the others (P6)'({ provider, other, deleteRecord }) {
      const second = { ...JOB, name: 'contract-2' };
      await granted(provider, JOB);
      const lock = await granted(provider, second);
      await deleteRecord(JOB.name);
      assert.equal(await lock.extend('10m'), true);
      await refused(other, second);
    },
  }),

  ...needing(['deleteRecord', 'fencingTokens'], {
    async 'tokens also rise after the record was deleted while the lock was held (P3, F-60)'(fixture) {
      const { provider, other, deleteRecord, elapse } = fixture;
      const first = tokenOf(await granted(provider, JOB));
      await deleteRecord(JOB.name);
      await elapse('1m');
      assertRising([first, tokenOf(await granted(other, JOB))]);
    },

    async 'tokens also rise after the record was deleted while the lock was free (P3, F-61)'(fixture) {
      const { provider, deleteRecord, elapse } = fixture;
      const lock = await granted(provider, JOB);
      await lock.unlock();
      await deleteRecord(JOB.name);
      await elapse('1m');
      assertRising([tokenOf(lock), tokenOf(await granted(provider, JOB))]);
    },
  }),
];
