import assert from 'node:assert/strict';
import { cases } from './fixture';
import { KEY, MINUTE_MS, NEVER_STARTED, PENDING, SKIPPED, dayFrom, keyOf, pending, running } from './runs';
import { runConcurrently } from './tested-store';

/** One row for each key, with the given values and the store's times. */
export const inserting = cases((test) => [
  test('a new key is inserted, and the other instance finds it (L1)', async (c) => {
    await c.store.inserted(PENDING);
    await c.other.has({ state: 'pending' });
  }),

  test('an existing key is refused to both instances, and its row stays unchanged (L1)', async (c) => {
    await c.store.inserted(running());
    const before = await c.store.run();
    await c.store.refused(PENDING);
    await c.other.refused(running('host/2/second'));
    assert.deepEqual(await c.store.run(), before);
  }),

  test('of 50 simultaneous inserts of a new key, one wins (L-01)', async (c) => {
    const won = await runConcurrently(c, 50, (at, i) => at.insert(running(`host/1/${i}`)));
    assert.equal(won.filter(Boolean).length, 1);
    await c.store.has({ claimedBy: `host/1/${won.indexOf(true)}` });
  }),

  test('of 50 simultaneous inserts of ten new keys, one wins for each key (L-01)', async (c) => {
    const won = await runConcurrently(c, 50, (at, i) =>
      at.insert({ ...running(`host/1/${i}`), periodKey: `period-${i % 10}` }),
    );
    for (let key = 0; key < 10; key += 1) {
      const winners = won.flatMap((hasWon, i) => (hasWon && i % 10 === key ? `host/1/${i}` : []));
      assert.deepEqual(winners, [(await c.store.run(keyOf(`period-${key}`))).claimedBy]);
    }
  }),

  test('a run that starts at once is returned with its given values, as attempt 1 (L1)', async (c) => {
    await c.elapse('1d');
    const given = { ...KEY, ...dayFrom('2026-11-19T16:00:00.123Z'), scope: 'eu' };
    const insert = () => c.store.inserted({ ...running(), ...given });
    const { assertIsNow } = await c.store.readClockAround(insert);
    const run = await c.other.run(given);
    const { createdAt, updatedAt, startedAt, firstStartedAt, leaseUntil } = run;
    assertIsNow({ createdAt, updatedAt, startedAt, firstStartedAt });
    const leaseMs = Number(leaseUntil) - Number(startedAt);
    assert.ok(Math.abs(leaseMs - 10 * MINUTE_MS) <= 1, `the lease lasts ${leaseMs} ms instead of 10 minutes`);
    assert.deepEqual(run, {
      ...NEVER_STARTED,
      ...given,
      state: 'running',
      attempt: 1,
      claimedBy: 'host/1/first',
      lockId: 'place/contract',
      fencingToken: 7,
      leaseUntil,
      firstStartedAt,
      startedAt,
      createdAt,
      updatedAt,
    });
  }),

  test('a pending run is returned without an attempt, and is due at once (L4)', async (c) => {
    await c.elapse('1d');
    const { assertIsNow } = await c.store.readClockAround(() => c.store.inserted(PENDING));
    const run = await c.other.run();
    const { createdAt, updatedAt, nextAttemptAt } = run;
    assertIsNow({ createdAt, updatedAt, nextAttemptAt });
    assert.deepEqual(run, { ...NEVER_STARTED, ...PENDING, createdAt, updatedAt, nextAttemptAt });
  }),

  test('a skipped run is returned with its reason, and is not due (L7)', async (c) => {
    await c.store.inserted(SKIPPED);
    const run = await c.other.run();
    const { createdAt, updatedAt } = run;
    assert.deepEqual(run, { ...NEVER_STARTED, ...SKIPPED, createdAt, updatedAt });
  }),

  test('the largest fencing token is returned exactly, and a missing one stays missing (L1)', async (c) => {
    for (const [i, fencingToken] of [Number.MAX_SAFE_INTEGER, 1, undefined].entries()) {
      const { started, ...run } = running();
      assert.ok(started !== undefined);
      const key = keyOf(`period-${i}`);
      await c.store.inserted({ ...run, ...key, started: { ...started, fencingToken } });
      await c.store.has({ fencingToken }, key);
    }
  }),

  test('periods in the distant past, in the far future and between two seconds are returned exactly (L7)', async (c) => {
    for (const start of ['1980-01-01T00:00:00.001Z', '2026-03-29T00:59:59.999Z', '2099-12-31T23:00:00Z']) {
      await c.store.inserted(pending(start, dayFrom(start)));
      await c.store.has(dayFrom(start), keyOf(start));
    }
  }),

  test('a run of the same key in another place is another run (L1)', async (c) => {
    const elsewhere = await c.anotherPlace();
    await c.store.inserted(PENDING);
    await elsewhere.store.inserted(SKIPPED);
    await c.store.has({ state: 'pending' });
  }),
]);
