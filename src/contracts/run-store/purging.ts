import assert from 'node:assert/strict';
import type { RunStore } from '../../ledger/run-store';
import { cases } from './fixture';
import {
  DAY_MS,
  JOB,
  LIMIT,
  LOST,
  PENDING,
  SKIPPED,
  dayFrom,
  foundBy,
  inserted,
  insertedAs,
  keyOf,
  nowOf,
  oneOfEach,
  peeked,
  runOf,
  written,
} from './runs';

const AGE_MS = 100 * DAY_MS;

/** Old finished runs are deleted, with their events. */
export const purging = cases({
  async 'a purge deletes nothing if there is nothing to delete (L-55)'({ store }) {
    assert.equal(await purged(store), 0);
    await inserted(store, SKIPPED);
    assert.equal(await purged(store), 0);
    assert.deepEqual(await foundBy(store), [SKIPPED.periodKey]);
  },

  async 'finished runs are deleted, and unfinished ones never, however old they are (L-55)'(fixture) {
    const { store, other, elapse } = fixture;
    await oneOfEach(store);
    const failed = { state: 'failed', reason: 'due later' } as const;
    await insertedAs(store, { ...PENDING, periodKey: 'due later' }, ({ now }) => ({
      ...failed,
      nextAttemptAt: new Date(now.getTime() + 2 * AGE_MS),
    }));
    await elapse('101d');
    await inserted(store, { ...SKIPPED, periodKey: 'newest' });
    assert.equal(await purged(store), 3);
    const left = ['due later', 'failed', 'interrupted', 'newest', 'pending', 'running'];
    assert.deepEqual((await foundBy(other)).sort(), left);
  },

  async 'the newest run of each job and scope stays (L-55)'({ store, elapse }) {
    // Inserted in another order than that of their periods: the newest run is that of the latest period.
    for (const [i, subject] of [{}, { scope: 'eu' }, { job: 'another' }].entries())
      for (const [periodKey, daysAgo] of Object.entries({ newest: 10 * i + 1, old: 10 * i + 2 }))
        await inserted(store, { ...(await dayEnded(store, -daysAgo)), periodKey, ...subject });
    await elapse('101d');
    assert.equal(await purged(store), 3);
    assert.deepEqual(await foundBy(store), ['newest', 'newest', 'newest']);
    assert.equal(await purged(store), 0);
  },

  async 'runs before and after an unfinished run are deleted, and their periods do not count as missed (L-55)'({
    store,
    other,
    elapse,
  }) {
    for (const [periodKey, daysAgo] of Object.entries({ newest: 1, 'after it': 2, 'before it': 4 }))
      await inserted(store, { ...(await dayEnded(store, -daysAgo)), periodKey });
    const { timeZone, periodStart, periodEnd } = await dayEnded(store, -3);
    await inserted(store, { ...PENDING, timeZone, periodStart, periodEnd, periodKey: 'waiting' });
    await elapse('101d');
    assert.equal(await purged(store), 2);
    assert.deepEqual(await foundBy(store), ['waiting', 'newest']);
    assert.deepEqual(await knownFrom(other), (await runOf(store, keyOf('newest'))).periodStart);
  },

  async 'purged periods do not count as missed, even if an older run is created afterwards (L-55)'(fixture) {
    const { store, other, elapse } = fixture;
    const daysAgo = { first: 6, second: 5, third: 3, newest: 1 };
    for (const [periodKey, days] of Object.entries(daysAgo)) {
      const run = { ...(await dayEnded(store, -days)), periodKey };
      await inserted(store, run, { ...run, scope: 'eu' });
    }
    await elapse('101d');
    assert.equal(await purged(store), 6);
    await inserted(store, { ...(await dayEnded(store, -200)), periodKey: 'skipped by hand' });
    const { periodStart } = await runOf(store, keyOf('newest'));
    assert.deepEqual(await knownFrom(other), periodStart);
    assert.deepEqual(await knownFrom(other, { scope: 'eu' }), periodStart);
    // The purge mark begins before the requested periods, so none of them was purged.
    const since = new Date((periodStart?.getTime() ?? 0) + 1);
    const { runs, firstPeriodStart } = await peeked(other, { since });
    assert.deepEqual(runs, []);
    assert.ok(firstPeriodStart !== undefined && periodStart !== undefined && firstPeriodStart < periodStart);
  },

  async 'each purge moves the purge mark forward (L-55)'({ store, other, elapse }) {
    const keys = ['first', 'second', 'third', 'newest'];
    for (const periodKey of keys) {
      await inserted(store, { ...(await dayEnded(store, -1)), periodKey });
      await elapse('10d');
    }
    await elapse('51d');
    for (const key of keys.slice(1)) {
      await elapse('10d');
      assert.equal(await purged(store), 1);
      assert.deepEqual(await knownFrom(other), (await runOf(store, keyOf(key))).periodStart, key);
      assert.deepEqual(
        (await store.events(keyOf(key), LIMIT)).map(({ kind }) => kind),
        ['purged'],
      );
    }
  },

  async 'the newest run with a period stays, even if a run without a period is newer (L-55)'(fixture) {
    const { store, elapse } = fixture;
    for (const days of [2, 1])
      await inserted(store, { ...(await dayEnded(store, -days)), periodKey: `${days} days ago` });
    await elapse('101d');
    await inserted(store, { ...SKIPPED, periodKey: 'skipped by hand' });
    assert.equal(await purged(store), 1);
    assert.deepEqual((await foundBy(store)).sort(), ['1 days ago', 'skipped by hand']);
  },

  async 'the newest custom key, by its creation, stays (L-55)'({ store, elapse }) {
    for (const periodKey of ['b', 'c', 'a']) {
      await inserted(store, { ...SKIPPED, periodKey });
      await elapse('1m');
    }
    await elapse('101d');
    assert.equal(await purged(store), 2);
    assert.deepEqual(await foundBy(store), ['a']);
  },

  async 'a purge deletes no more runs than its limit, and the next purge continues (L-55)'(fixture) {
    const { store, elapse } = fixture;
    for (let i = 0; i < 6; i += 1) await inserted(store, { ...SKIPPED, periodKey: `old-${i}` });
    await elapse('101d');
    await inserted(store, { ...SKIPPED, periodKey: 'newest' });
    const counts = [];
    for (let from: unknown; from !== undefined || counts.length === 0;) {
      const step = await store.purge({ olderThanMs: AGE_MS, limit: 4, from }, LIMIT);
      counts.push(step.deleted);
      from = step.next;
    }
    assert.equal(Math.max(...counts), 4);
    assert.equal(
      counts.reduce((sum, deleted) => sum + deleted),
      6,
    );
    assert.deepEqual(await foundBy(store), ['newest']);
  },

  async 'unfinished runs do not block the deletion of finished ones (L-55)'({ store, elapse }) {
    for (let i = 0; i < 3; i += 1) await inserted(store, { ...PENDING, periodKey: `pending-${i}` });
    for (let i = 0; i < 2; i += 1) await inserted(store, { ...SKIPPED, periodKey: `old-${i}` });
    await elapse('101d');
    await inserted(store, { ...SKIPPED, periodKey: 'newest' });
    assert.equal(await purged(store, { limit: 2 }), 2);
    assert.equal((await foundBy(store)).length, 4);
  },

  async 'events are deleted with their run, and no others (L-55)'({ store, elapse }) {
    await inserted(store, { ...SKIPPED, periodKey: 'old', event: LOST });
    await elapse('101d');
    await inserted(store, { ...SKIPPED, periodKey: 'newest', event: LOST });
    assert.equal(await purged(store), 1);
    assert.deepEqual(await store.events(keyOf('old'), LIMIT), []);
    await inserted(store, { ...PENDING, periodKey: 'old' });
    assert.deepEqual(await store.events(keyOf('old'), LIMIT), []);
    assert.equal((await store.events(keyOf('newest'), LIMIT)).length, 1);
  },

  async 'a run whose period ended recently stays, however long ago it was written (L-55)'({ store, elapse }) {
    await inserted(store, { ...(await dayEnded(store, 10)), periodKey: 'lately' });
    await inserted(store, { ...(await dayEnded(store, 0)), periodKey: 'long ago' });
    await elapse('101d');
    await inserted(store, { ...(await dayEnded(store, 1)), periodKey: 'newest' });
    assert.equal(await purged(store), 1);
    assert.deepEqual(await foundBy(store), ['lately', 'newest']);
    await elapse('10d');
    assert.equal(await purged(store), 1);
  },

  async 'a run that was written recently stays, however long ago its period ended (L-55)'({ store, elapse }) {
    for (const periodKey of ['rewritten', 'custom'])
      await inserted(store, {
        ...SKIPPED,
        ...(periodKey === 'custom' ? {} : await dayEnded(store, -300)),
        periodKey,
      });
    await inserted(store, { ...(await dayEnded(store, -299)), periodKey: 'newest day' });
    await elapse('101d');
    for (const periodKey of ['rewritten', 'custom'])
      await written(store, () => ({ reason: 'again' }), { key: keyOf(periodKey) });
    await inserted(store, { ...SKIPPED, periodKey: 'newest' });
    assert.equal(await purged(store), 0);
    await elapse('99d');
    assert.equal(await purged(store), 0);
    await elapse('2d');
    assert.equal(await purged(store), 2);
    assert.deepEqual(await foundBy(store), ['newest day', 'newest']);
  },

  async 'older runs are deleted even if the newest run is unfinished (L-55)'({ store, elapse }) {
    await inserted(store, { ...SKIPPED, periodKey: 'old' });
    await elapse('1m');
    await inserted(store, { ...PENDING, periodKey: 'newest' });
    await elapse('101d');
    assert.equal(await purged(store), 1);
    assert.equal((await runOf(store, keyOf('newest'))).state, 'pending');
  },
});

/** In steps of the limit. @returns how many runs were deleted */
async function purged(store: RunStore, { limit = 100 } = {}): Promise<number> {
  let deleted = 0;
  let from: unknown;
  do {
    const step = await store.purge({ olderThanMs: AGE_MS, limit, from }, LIMIT);
    deleted += step.deleted;
    from = step.next;
  } while (from !== undefined);
  return deleted;
}

/** No period before this one counts as missed. */
async function knownFrom(store: RunStore, { scope = '' } = {}): Promise<Date | undefined> {
  const request = { job: JOB, scope, periodKey: undefined, since: new Date(0) };
  return (await store.peek(request, LIMIT)).firstPeriodStart;
}

/** A skipped run of the day that ends this many days from now. */
async function dayEnded(store: RunStore, daysFromNow: number) {
  const start = (await nowOf(store)).getTime() + (daysFromNow - 1) * DAY_MS;
  return { ...SKIPPED, ...dayFrom(new Date(start)) };
}
