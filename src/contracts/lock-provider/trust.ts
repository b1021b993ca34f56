import assert from 'node:assert/strict';
import { type Duration, LockLostError, LockStorageError } from '../../core';
import { AT_LEAST, JOB, freeAfter, freeOnlyAfter, granted, observed, refused, released } from './assertions';
import { type LockProviderFixture, cases, needing } from './fixture';

const KEPT_ALIVE = { ...JOB, keepAlive: true };

/** How long a holder trusts its lease, and how it learns that the lease has expired. */
export const trust = [
  ...cases((test) => [
    test('the signal aborts when lockAtMostFor has passed, with a LockLostError (P2)', async (c) => {
      const { signal } = await granted(c.provider);
      await c.elapse('9m');
      assert.equal(signal.aborted, false);
      await c.elapse('1m');
      assert.equal(signal.aborted, true);
      assert.ok(signal.reason instanceof LockLostError);
    }),

    test('remainingMs counts down to zero, and follows an extension (P2)', async (c) => {
      const lock = await granted(c.provider);
      assert.ok(lock.remainingMs() <= 600_000 && lock.remainingMs() > 590_000);
      await c.elapse('4m');
      assert.ok(lock.remainingMs() <= 360_000 && lock.remainingMs() > 350_000);
      await lock.extend('20m');
      assert.ok(lock.remainingMs() <= 1_200_000 && lock.remainingMs() > 1_190_000);
      await c.elapse('20m');
      assert.equal(lock.remainingMs(), 0);
    }),

    test('a release does not abort the signal, and remainingMs becomes zero (P2)', async (c) => {
      const lock = await released(c.provider);
      assert.equal(lock.remainingMs(), 0);
      await c.elapse('11m');
      assert.equal(lock.signal.aborted, false);
      assert.equal(lock.remainingMs(), 0);
    }),

    test('the signal of a lost lock stays aborted and stays the same object (P2)', async (c) => {
      const lock = await granted(c.provider);
      const { signal } = lock;
      await c.elapse('10m');
      await lock.extend('10m');
      await lock.unlock();
      assert.equal(lock.signal, signal);
      assert.equal(signal.aborted, true);
    }),
  ]),

  ...needing(['observer'], (test) => [
    test('the observer is notified of a loss, once (P2)', async (c) => {
      const { lock, observer } = await observed(c.provider);
      await c.elapse('10m');
      await lock.extend('10m');
      await lock.unlock();
      assert.deepEqual(observer.losses, [lock.signal.reason]);
    }),

    test('the observer is notified of an extension, and of no loss after a release (P2)', async (c) => {
      const { lock, observer } = await observed(c.provider);
      await observer.until('extended', () => lock.extend('5m'));
      await lock.unlock();
      await c.elapse('11m');
      assert.deepEqual(observer.losses, []);
    }),
  ]),
];

/** A process was stopped or blocked while time passed: its timers have not fired yet. */
export const lateHolder = needing(['stall'], (test) => [
  test('after a stall past the deadline, the signal is aborted when it is read (P2)', async (c) => {
    const lock = await granted(c.provider);
    await c.stall('10m');
    assert.equal(lock.signal.aborted, true);
  }),

  test('after a stall past the deadline, remainingMs is zero (P2)', async (c) => {
    const { lock, signal } = await stalled(c);
    assert.equal(lock.remainingMs(), 0);
    assert.equal(signal.aborted, true);
  }),

  test('after a stall past the deadline, reading the fencing token aborts the signal (P2)', async (c) => {
    const { lock, signal } = await stalled(c);
    void lock.fencingToken;
    assert.equal(signal.aborted, true);
  }),

  test('after a stall past the deadline, extend aborts the signal and revives nothing (P2)', async (c) => {
    const { lock, signal } = await stalled(c);
    assert.equal(await lock.extend('10m'), false);
    assert.equal(signal.aborted, true);
    await granted(c.other);
  }),

  test('after a stall past the deadline, unlock returns false (P2)', async (c) => {
    const { lock, signal } = await stalled(c);
    await granted(c.other);
    assert.equal(await lock.unlock(), false);
    assert.equal(signal.aborted, true);
    await refused(c.provider);
  }),

  test('a stall that ends before the deadline has no effect (P2)', async (c) => {
    const lock = await granted(c.provider);
    await c.stall('9m');
    assert.equal(lock.signal.aborted, false);
    assert.equal(await lock.extend('10m'), true);
    await c.stall('9m');
    await refused(c.other);
    assert.equal(await lock.unlock(), true);
  }),

  test('a reply that arrives after the end of its lease is an error, not a lock (P7)', async (c) => {
    await failsAsTooLate(c, '11m');
    await granted(c.other);
  }),

  test('a reply that leaves less than a quarter of its lease is an error, and the lock is released (P7)', async (c) => {
    await failsAsTooLate(c, '9m');
    await granted(c.other);
  }),
]);

/** A lock whose holder was stalled past the end of its lease, and the signal as the holder had read it. */
async function stalled({ provider, stall }: Pick<LockProviderFixture, 'provider' | 'stall'>) {
  const lock = await granted(provider);
  const { signal } = lock;
  await stall('10m');
  return { lock, signal };
}

/** The call is in flight, and this much time passes before its reply arrives. */
async function failsAsTooLate(
  { provider, stall }: Pick<LockProviderFixture, 'provider' | 'stall'>,
  late: Duration,
): Promise<void> {
  // If the lock exists already, the first statement of the call is the one that grants it.
  await released(provider);
  const failed = assert.rejects(provider.lock(JOB), LockStorageError);
  failed.catch(() => {}); // Awaited below.
  await stall(late);
  await failed;
}

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

    test('renewals keep lockAtLeastFor in force (P5)', async (c) => {
      const short = { ...AT_LEAST, lockAtMostFor: '3m', keepAlive: true };
      const { lock, observer } = await observed(c.provider, short);
      await observer.until('extended', () => c.elapse('1m'));
      assert.equal(await lock.unlock(), true);
      await freeAfter(c, '1m');
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
    test('a keep-alive that finds no record loses the lease at once (P2)', async (c) => {
      const { lock, observer } = await observed(c.provider, KEPT_ALIVE);
      await c.deleteRecord(JOB.name);
      await observer.until('lost', () => c.elapse('4m'));
      assert.equal(lock.signal.aborted, true);
    }),

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
