import assert from 'node:assert/strict';
import { JOB, freeOnlyAfter, granted, observed, refused } from './assertions';
import { needing } from './fixture';

const KEPT_ALIVE = { ...JOB, keepAlive: true };

/** A lease that is renewed while its job runs. Time moves by one renewal, and the case waits for it. */
export const keepAlive = [
  ...needing(['observer'], (test) => [
    test('a keep-alive renews the lease past lockAtMostFor, until the release (P2)', async (c) => {
      const { lock, observer } = await observed(c.provider, KEPT_ALIVE);
      for (let renewal = 1; renewal <= 6; renewal += 1)
        await observer.until('extended', () => c.elapse('4m'));
      await refused(c.other);
      assert.equal(lock.signal.aborted, false);
      assert.equal(await lock.unlock(), true);
      await granted(c.other);
    }),

    test('a keep-alive renews at its configured interval (P2)', async (c) => {
      const { lock, observer } = await observed(c.provider, { ...JOB, keepAlive: '1m' });
      for (let renewal = 1; renewal <= 3; renewal += 1) {
        await observer.until('extended', () => c.elapse('1m'));
        assert.ok(lock.remainingMs() > 590_000);
      }
    }),

    test('a keep-alive ends at maxLockDuration, and so does the lease (P4)', async (c) => {
      const limited = { ...KEPT_ALIVE, lockAtMostFor: '9m', maxLockDuration: '12m' };
      const { lock, observer } = await observed(c.provider, limited);
      await observer.until('extended', () => c.elapse('3m'));
      await freeOnlyAfter(c, ['8m', '1m'], JOB, lock);
    }),

    test('an abandoned lease is no longer renewed, and expires (P4)', async (c) => {
      const abandoned = new AbortController();
      const lock = await granted(c.provider, KEPT_ALIVE, { abandonedSignal: () => abandoned.signal });
      abandoned.abort();
      await freeOnlyAfter(c, ['9m', '1m'], JOB, lock);
    }),

    test('a keep-alive ends with the release (P6)', async (c) => {
      const { lock, observer } = await observed(c.provider, KEPT_ALIVE);
      await lock.unlock();
      const next = await granted(c.other);
      await c.elapse('4m');
      assert.ok(next.remainingMs() <= 360_000);
      assert.equal(await next.extend('10m'), true);
      await c.elapse('10m');
      await granted(c.provider);
      assert.deepEqual(observer.losses, []);
    }),
  ]),

  ...needing(['deleteRecord', 'observer'], (test) => [
    test('a keep-alive that finds another holder loses the lease at once and leaves the other holder alone (P2, P6)', async (c) => {
      const { lock: stale, observer } = await observed(c.provider, KEPT_ALIVE);
      await c.deleteRecord(JOB.name);
      const next = await granted(c.other);
      await observer.until('lost', () => c.elapse('4m'));
      assert.equal(stale.signal.aborted, true);
      assert.equal(await stale.unlock(), false);
      assert.equal(await next.unlock(), true);
    }),
  ]),
];
