import assert from 'node:assert/strict';
import { JOB, RecordingObserver, assertRising, granted, refused, tokenOf } from './assertions';
import { needing } from './fixture';

const MINUTE_MS = 60_000;
const HOST = 'billing-7f9c.example.com';

/** Records that exist already: written by hand, or by ShedLock for Java, which uses host names as owners. */
export const existingRecords = [
  ...needing(['existingRecord'], {
    async 'P1 a lock that another program holds is refused until its record expires'({
      provider,
      other,
      existingRecord,
      elapse,
    }) {
      await existingRecord({ name: JOB.name, lockedBy: HOST, endsInMs: 5 * MINUTE_MS });
      await refused(provider, JOB);
      await elapse('4m');
      await refused(other, JOB);
      await elapse('1m');
      await granted(other, JOB);
      await refused(provider, JOB);
    },

    async 'P4 a record that expired long ago is taken over'({ provider, other, existingRecord }) {
      await existingRecord({ name: JOB.name, lockedBy: HOST, endsInMs: -500 * 24 * 60 * MINUTE_MS });
      await granted(provider, JOB);
      await refused(other, JOB);
    },

    async 'P4 a record that has just expired is taken over'({ provider, other, existingRecord }) {
      await existingRecord({ name: JOB.name, lockedBy: HOST, endsInMs: -1 });
      const lock = await granted(provider, JOB);
      await refused(other, JOB);
      assert.equal(await lock.unlock(), true);
    },

    async 'P4 a record without an owner is held until it expires, and then free'({
      provider,
      existingRecord,
    }) {
      const second = { ...JOB, name: 'contract-2' };
      await existingRecord({ name: JOB.name, lockedBy: '', endsInMs: -MINUTE_MS });
      await existingRecord({ name: second.name, lockedBy: '', endsInMs: MINUTE_MS });
      await granted(provider, JOB);
      await refused(provider, second);
    },

    async 'P6 F-62 a holder whose record was given to another by hand has lost the lock and leaves the record alone'({
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

    async 'P6 F-62 a holder whose record was ended by hand has lost the lock'({
      provider,
      other,
      existingRecord,
    }) {
      const lock = await granted(provider, JOB);
      await existingRecord({ name: JOB.name, lockedBy: HOST, endsInMs: -1 });
      await granted(other, JOB);
      assert.equal(await lock.unlock(), false);
      await refused(provider, JOB);
    },
  }),

  ...needing(['existingRecord', 'fencingTokens'], {
    async 'P3 tokens rise from a record that has none'({ provider, other, existingRecord }) {
      await existingRecord({ name: JOB.name, lockedBy: HOST, endsInMs: -MINUTE_MS });
      const first = await granted(provider, JOB);
      await first.unlock();
      assertRising([0, tokenOf(first), tokenOf(await granted(other, JOB))]);
    },
  }),

  ...needing(['existingRecord', 'observer'], {
    async 'P1 a refused caller can learn who holds the lock, and until when'({
      provider,
      existingRecord,
      elapse,
    }) {
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
    async 'P4 F-61 a record that was deleted while the lock was free is recreated within a minute'({
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

    async 'P4 F-61 a record that was deleted while the lock was refused is recreated within a minute'({
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

    async 'P2 F-60 an extension that finds no record aborts the signal'({ provider, deleteRecord }) {
      const lock = await granted(provider, JOB);
      await deleteRecord(JOB.name);
      assert.equal(await lock.extend('10m'), false);
      assert.equal(lock.signal.aborted, true);
    },

    async 'P6 F-60 a release that finds no record returns false'({ provider, deleteRecord }) {
      const lock = await granted(provider, JOB);
      await deleteRecord(JOB.name);
      assert.equal(await lock.unlock(), false);
    },

    async 'P6 F-60 a holder whose record was deleted does not touch the record of the next holder'({
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

    async 'P6 deleting one record does not affect the others'({ provider, other, deleteRecord }) {
      const second = { ...JOB, name: 'contract-2' };
      await granted(provider, JOB);
      const lock = await granted(provider, second);
      await deleteRecord(JOB.name);
      assert.equal(await lock.extend('10m'), true);
      await refused(other, second);
    },
  }),

  ...needing(['deleteRecord', 'fencingTokens'], {
    async 'P3 F-60 tokens also rise after the record was deleted while the lock was held'({
      provider,
      other,
      deleteRecord,
      elapse,
    }) {
      const first = tokenOf(await granted(provider, JOB));
      await deleteRecord(JOB.name);
      await elapse('1m');
      assertRising([first, tokenOf(await granted(other, JOB))]);
    },

    async 'P3 F-61 tokens also rise after the record was deleted while the lock was free'({
      provider,
      deleteRecord,
      elapse,
    }) {
      const lock = await granted(provider, JOB);
      await lock.unlock();
      await deleteRecord(JOB.name);
      await elapse('1m');
      assertRising([tokenOf(lock), tokenOf(await granted(provider, JOB))]);
    },
  }),
];
