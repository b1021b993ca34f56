import assert from 'node:assert/strict';
import type { NewRun } from '../../ledger/run-store';
import { assertApart, runConcurrently, readClockAround } from './assertions';
import { cases } from './fixture';
import {
  KEY,
  LIMIT,
  MINUTE_MS,
  PENDING,
  SKIPPED,
  dayFrom,
  inserted,
  keyOf,
  refused,
  runOf,
  running,
} from './runs';

/** One row for each key, with the given values and the store's times. */
export const inserting = cases({
  async 'a new key is inserted, and the other instance finds it (L1)'({ store, other }) {
    await inserted(store, PENDING);
    assert.equal((await runOf(other)).state, 'pending');
  },

  async 'an existing key is refused to both instances, and its row stays unchanged (L1)'({ store, other }) {
    await inserted(store, running());
    const before = await runOf(store);
    await refused(store, PENDING);
    await refused(other, running('host/2/second'));
    assert.deepEqual(await runOf(store), before);
  },

  async 'of 50 simultaneous inserts of a new key, one wins (L-01)'({ store, other }) {
    const won = await runConcurrently(50, [store, other], (at, i) =>
      at.insert(running(`host/1/${i}`), LIMIT),
    );
    assert.equal(won.filter(Boolean).length, 1);
    assert.equal((await runOf(store)).claimedBy, `host/1/${won.indexOf(true)}`);
  },

  async 'of 50 simultaneous inserts of ten new keys, one wins for each key (L-01)'({ store, other }) {
    const won = await runConcurrently(50, [store, other], (at, i) =>
      at.insert({ ...running(`host/1/${i}`), periodKey: `period-${i % 10}` }, LIMIT),
    );
    for (let key = 0; key < 10; key += 1) {
      const winners = won.flatMap((hasWon, i) => (hasWon && i % 10 === key ? `host/1/${i}` : []));
      assert.deepEqual(winners, [(await runOf(store, keyOf(`period-${key}`))).claimedBy]);
    }
  },

  async 'a run that starts at once is returned with its given values, as attempt 1 (L1)'(fixture) {
    const { store, other, elapse } = fixture;
    await elapse('1d');
    const period = dayFrom(new Date('2026-11-19T16:00:00.123Z'));
    const { assertIsNow } = await readClockAround(store, () =>
      inserted(store, { ...running(), ...period, scope: 'eu' }),
    );
    const run = await runOf(other, keyOf(KEY.periodKey, { scope: 'eu' }));
    const { createdAt, updatedAt, startedAt, firstStartedAt, leaseUntil } = run;
    for (const [what, instant] of Object.entries({ createdAt, updatedAt, startedAt, firstStartedAt }))
      assertIsNow(instant, what);
    assertApart(startedAt, leaseUntil, 10 * MINUTE_MS);
    assert.deepEqual(run, {
      ...KEY,
      ...period,
      ...{ scope: 'eu', state: 'running', generation: 0, attempt: 1, nextAttemptAt: undefined },
      ...{ claimedBy: 'host/1/first', lockId: 'place/contract', fencingToken: 7 },
      ...{ leaseUntil, firstStartedAt, startedAt, finishedAt: undefined },
      ...{ reason: undefined, result: undefined, error: undefined, createdAt, updatedAt },
    });
  },

  async 'a pending run is returned without an attempt, and is due at once (L4)'({ store, other, elapse }) {
    await elapse('1d');
    const { assertIsNow } = await readClockAround(store, () => inserted(store, PENDING));
    const run = await runOf(other);
    const { createdAt, updatedAt, nextAttemptAt } = run;
    for (const [what, instant] of Object.entries({ createdAt, updatedAt, nextAttemptAt }))
      assertIsNow(instant, what);
    assert.deepEqual(run, { ...NEVER_STARTED, ...PENDING, createdAt, updatedAt, nextAttemptAt });
  },

  async 'a skipped run is returned with its reason, and is not due (L7)'({ store, other }) {
    await inserted(store, SKIPPED);
    const run = await runOf(other);
    const { createdAt, updatedAt } = run;
    assert.deepEqual(run, { ...NEVER_STARTED, ...SKIPPED, createdAt, updatedAt, nextAttemptAt: undefined });
  },

  async 'the largest fencing token is returned exactly, and a missing one stays missing (L1)'({ store }) {
    for (const [i, fencingToken] of [Number.MAX_SAFE_INTEGER, 1, undefined].entries()) {
      const { started, ...run } = running();
      assert.ok(started !== undefined);
      const key = keyOf(`period-${i}`);
      await inserted(store, { ...run, ...key, started: { ...started, fencingToken } });
      assert.equal((await runOf(store, key)).fencingToken, fencingToken);
    }
  },

  async 'periods in the distant past, in the far future and between two seconds are returned exactly (L7)'({
    store,
  }) {
    for (const start of ['1980-01-01T00:00:00.001Z', '2026-03-29T00:59:59.999Z', '2099-12-31T23:00:00Z']) {
      const run: NewRun = { ...PENDING, periodKey: start, ...dayFrom(new Date(start)) };
      await inserted(store, run);
      const { periodStart, periodEnd, timeZone } = await runOf(store, run);
      assert.deepEqual({ periodStart, periodEnd, timeZone }, dayFrom(new Date(start)));
    }
  },

  async 'both instances have the same place id (L1)'({ store, other }) {
    assert.equal(typeof store.id, 'string');
    assert.notEqual(store.id, '');
    assert.equal(store.id, other.id);
    await inserted(store, PENDING);
    assert.equal((await runOf(other)).state, 'pending');
  },

  async 'a run of the same key in another place is another run (L1)'({ store }, { anotherPlace }) {
    const { store: elsewhere } = await anotherPlace();
    assert.notEqual(store.id, elsewhere.id);
    await inserted(store, PENDING);
    await inserted(elsewhere, SKIPPED);
    assert.equal((await runOf(store)).state, 'pending');
  },
});

const NEVER_STARTED = {
  ...{ generation: 0, attempt: 0, claimedBy: undefined, lockId: undefined, fencingToken: undefined },
  ...{ leaseUntil: undefined, firstStartedAt: undefined, startedAt: undefined, finishedAt: undefined },
  ...{ reason: undefined, result: undefined, error: undefined },
};
