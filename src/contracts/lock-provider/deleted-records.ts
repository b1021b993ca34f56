import assert from 'node:assert/strict';
import { JOB, assertRising, granted, refused, tokenOf } from './asserting';
import { needing } from './contract-cases';

/** An operator has deleted the record of a lock. A provider that remembers it looks again within a minute. */
export const deletedRecords = [
  ...needing(['deleteRecord'], {
    async 'P4 F-61 a record that was deleted while the lock was free comes back within a minute'({
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

    async 'P4 F-61 a record that was deleted while the lock was refused comes back within a minute'({
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

    async 'P2 F-60 an extend that finds the record gone aborts the signal'({ provider, deleteRecord }) {
      const lock = await granted(provider, JOB);
      await deleteRecord(JOB.name);
      assert.equal(await lock.extend('10m'), false);
      assert.equal(lock.signal.aborted, true);
    },

    async 'P6 F-60 a release that finds the record gone says so'({ provider, deleteRecord }) {
      const lock = await granted(provider, JOB);
      await deleteRecord(JOB.name);
      assert.equal(await lock.unlock(), false);
    },

    async 'P6 F-60 a holder whose record was deleted does not touch the one that came after it'({
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

    async 'P6 deleting one record leaves the others'({ provider, other, deleteRecord }) {
      const second = { ...JOB, name: 'contract-2' };
      await granted(provider, JOB);
      const lock = await granted(provider, second);
      await deleteRecord(JOB.name);
      assert.equal(await lock.extend('10m'), true);
      await refused(other, second);
    },
  }),

  ...needing(['deleteRecord', 'fencingTokens'], {
    async 'P3 F-60 tokens rise also after the record was deleted while the lock was held'({
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

    async 'P3 F-61 tokens rise also after the record was deleted while the lock was free'({
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
