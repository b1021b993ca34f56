import assert from 'node:assert/strict';
import { AT_LEAST, JOB, RecordingObserver, freeOnlyAfter, granted, refused } from './assertions';
import { needing } from './fixture';

/**
 * A lease that is renewed while its job runs. Time moves by at most one renewal at a time, and the case waits
 * for it.
 */
export const keepAlive = [
  ...needing(['observer'], {
    async 'a keep-alive renews the lease past lockAtMostFor, until the release (P2)'(fixture) {
      const { provider, other, elapse } = fixture;
      const observer = new RecordingObserver();
      const lock = await granted(provider, { ...JOB, keepAlive: true }, observer);
      for (let renewal = 1; renewal <= 6; renewal += 1) {
        await observer.renewed(() => elapse('4m'));
      }
      await refused(other, JOB);
      assert.equal(lock.signal.aborted, false);
      assert.equal(await lock.unlock(), true);
      await granted(other, JOB);
    },

    async 'a keep-alive renews at its configured interval (P2)'({ provider, elapse }) {
      const observer = new RecordingObserver();
      const lock = await granted(provider, { ...JOB, keepAlive: '1m' }, observer);
      for (let renewal = 1; renewal <= 3; renewal += 1) {
        await observer.renewed(() => elapse('1m'));
        assert.ok(lock.remainingMs() > 590_000);
      }
    },

    async 'a keep-alive ends at maxLockDuration, and so does the lease (P4)'(fixture) {
      const observer = new RecordingObserver();
      const configuration = { ...JOB, lockAtMostFor: '9m', keepAlive: true, maxLockDuration: '12m' };
      const lock = await granted(fixture.provider, configuration, observer);
      await observer.renewed(() => fixture.elapse('3m'));
      await freeOnlyAfter(fixture, ['8m', '1m'], JOB, lock);
    },

    async 'an abandoned lease is no longer renewed, and expires (P4)'(fixture) {
      const abandoned = new AbortController();
      const observer = new RecordingObserver(abandoned.signal);
      const lock = await granted(fixture.provider, { ...JOB, keepAlive: true }, observer);
      abandoned.abort();
      await freeOnlyAfter(fixture, ['9m', '1m'], JOB, lock);
    },

    async 'renewals keep lockAtLeastFor in force (P5)'({ provider, other, elapse }) {
      const observer = new RecordingObserver();
      const lock = await granted(provider, { ...AT_LEAST, lockAtMostFor: '3m', keepAlive: true }, observer);
      await observer.renewed(() => elapse('1m'));
      assert.equal(await lock.unlock(), true);
      await refused(other, JOB);
      await elapse('1m');
      await granted(other, JOB);
    },

    async 'a keep-alive ends with the release (P6)'({ provider, other, elapse }) {
      const observer = new RecordingObserver();
      const released = await granted(provider, { ...JOB, keepAlive: true }, observer);
      await released.unlock();
      const next = await granted(other, JOB);
      await elapse('4m');
      assert.ok(next.remainingMs() <= 360_000);
      assert.equal(await next.extend('10m'), true);
      await elapse('10m');
      await granted(provider, JOB);
      assert.deepEqual(observer.losses, []);
    },
  }),

  ...needing(['deleteRecord', 'observer'], {
    async 'a keep-alive that finds no record loses the lease at once (P2)'(fixture) {
      const { provider, deleteRecord, elapse } = fixture;
      const observer = new RecordingObserver();
      const lock = await granted(provider, { ...JOB, keepAlive: true }, observer);
      await deleteRecord(JOB.name);
      const lost = observer.next('lost');
      await elapse('4m');
      await lost;
      assert.equal(lock.signal.aborted, true);
    },

    async 'a keep-alive that finds another holder loses the lease and leaves the other holder alone (P6)'({
      provider,
      other,
      deleteRecord,
      elapse,
    }) {
      const observer = new RecordingObserver();
      const stale = await granted(provider, { ...JOB, keepAlive: true }, observer);
      await deleteRecord(JOB.name);
      const next = await granted(other, JOB);
      const lost = observer.next('lost');
      await elapse('4m');
      await lost;
      assert.equal(await stale.unlock(), false);
      assert.equal(await next.unlock(), true);
    },
  }),
];
