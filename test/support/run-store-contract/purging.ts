import assert from 'node:assert/strict';
import type { NewRun, PurgeRequest } from '#cronlatch/ledger/run-store';
import { cases } from './fixture';
import { oneOfEach } from './one-of-each';
import { DAY_MS, LOST, SKIPPED, dayFrom, dueIn, keyOf, pending, skipped } from './runs';
import type { TestedStore } from './tested-store';

const AGE_MS = 100 * DAY_MS;

/** Old finished runs are deleted, with their events. */
export const purging = cases((test) => [
  test('a purge deletes nothing if there is nothing to delete (L-55)', async (c) => {
    assert.equal(await purged(c.store), 0);
    await c.store.inserted(SKIPPED);
    assert.equal(await purged(c.store), 0);
    assert.deepEqual(await c.store.periodKeys(), [SKIPPED.periodKey]);
  }),

  test('finished runs are deleted, and unfinished ones never, however old they are (L-55)', async (c) => {
    await oneOfEach(c.store);
    await c.store.insertedAs(pending('due later'), dueIn(2 * AGE_MS, { state: 'failed' }));
    await c.elapse('101d');
    await c.store.inserted(skipped('newest'));
    assert.equal(await purged(c.store), 3);
    const left = ['due later', 'failed', 'interrupted', 'newest', 'pending', 'running'];
    assert.deepEqual((await c.other.periodKeys()).sort(), left);
  }),

  test('the newest run of each job and scope stays (L-55)', async (c) => {
    // Inserted in another order than that of their periods: the newest run is that of the latest period.
    for (const [i, subject] of [{}, { scope: 'eu' }, { job: 'another' }].entries())
      await insertedDays(c.store, { newest: 10 * i + 1, old: 10 * i + 2 }, subject);
    await c.elapse('101d');
    assert.equal(await purged(c.store), 3);
    assert.deepEqual(await c.store.periodKeys(), ['newest', 'newest', 'newest']);
    assert.equal(await purged(c.store), 0);
  }),

  test('runs before and after an unfinished run are deleted, and their periods do not count as missed (L-55)', async (c) => {
    await insertedDays(c.store, { newest: 1, 'after it': 2, 'before it': 4 });
    await insertedDays(c.store, { waiting: 3 }, { state: 'pending', reason: undefined });
    await c.elapse('101d');
    assert.equal(await purged(c.store), 2);
    assert.deepEqual(await c.store.periodKeys(), ['waiting', 'newest']);
    assert.deepEqual(await knownFrom(c.other), (await c.store.run(keyOf('newest'))).periodStart);
  }),

  test('purged periods do not count as missed, even if an older run is created afterwards (L-55)', async (c) => {
    const days = { first: 6, second: 5, third: 3, newest: 1 };
    await insertedDays(c.store, days);
    await insertedDays(c.store, days, { scope: 'eu' });
    await c.elapse('101d');
    assert.equal(await purged(c.store), 6);
    await insertedDays(c.store, { 'skipped by hand': 200 });
    for (const scope of ['', 'eu']) {
      const { periodStart } = await c.store.run(keyOf('newest', { scope }));
      assert.deepEqual(await knownFrom(c.other, scope), periodStart);
    }
    // The purge mark begins before the requested periods, so none of them was purged.
    const { periodStart } = await c.store.run(keyOf('newest'));
    const since = new Date((periodStart?.getTime() ?? 0) + 1);
    const { runs, firstPeriodStart } = await c.other.peek({ since });
    assert.deepEqual(runs, []);
    assert.ok(firstPeriodStart !== undefined && periodStart !== undefined && firstPeriodStart < periodStart);
  }),

  test('each purge moves the purge mark forward (L-55)', async (c) => {
    const keys = ['first', 'second', 'third', 'newest'];
    for (const periodKey of keys) {
      await insertedDays(c.store, { [periodKey]: 1 });
      await c.elapse('10d');
    }
    await c.elapse('51d');
    for (const key of keys.slice(1)) {
      await c.elapse('10d');
      assert.equal(await purged(c.store), 1);
      assert.deepEqual(await knownFrom(c.other), (await c.store.run(keyOf(key))).periodStart, key);
      assert.deepEqual(await c.store.kindsOfEvents(keyOf(key)), ['purged']);
    }
  }),

  test('the newest run with a period stays, even if a run without a period is newer (L-55)', async (c) => {
    await insertedDays(c.store, { old: 2, 'newest day': 1 });
    await c.elapse('101d');
    await c.store.inserted(skipped('skipped by hand'));
    assert.equal(await purged(c.store), 1);
    assert.deepEqual((await c.store.periodKeys()).sort(), ['newest day', 'skipped by hand']);
  }),

  test('the newest custom key, by its creation, stays (L-55)', async (c) => {
    for (const periodKey of ['b', 'c', 'a']) {
      await c.store.inserted(skipped(periodKey));
      await c.elapse('1m');
    }
    await c.elapse('101d');
    assert.equal(await purged(c.store), 2);
    assert.deepEqual(await c.store.periodKeys(), ['a']);
  }),

  test('a purge deletes no more runs than its limit, and the next purge continues (L-55)', async (c) => {
    for (let i = 0; i < 6; i += 1) await c.store.inserted(skipped(`old-${i}`));
    await c.elapse('101d');
    await c.store.inserted(skipped('newest'));
    const counts = [];
    for (let from: unknown; from !== undefined || counts.length === 0;) {
      const step = await c.store.purge({ olderThanMs: AGE_MS, limit: 4, from });
      counts.push(step.deleted);
      from = step.next;
    }
    assert.equal(Math.max(...counts), 4);
    const sum = counts.reduce((total, deleted) => total + deleted);
    assert.equal(sum, 6);
    assert.deepEqual(await c.store.periodKeys(), ['newest']);
  }),

  test('unfinished runs do not block the deletion of finished ones (L-55)', async (c) => {
    await c.store.inserted(pending('pending-0'), pending('pending-1'), pending('pending-2'));
    await c.store.inserted(skipped('old-0'), skipped('old-1'));
    await c.elapse('101d');
    await c.store.inserted(skipped('newest'));
    assert.equal(await purged(c.store, 2), 2);
    assert.equal((await c.store.periodKeys()).length, 4);
  }),

  test('events are deleted with their run, and no others (L-55)', async (c) => {
    await c.store.inserted(skipped('old', { event: LOST }));
    await c.elapse('101d');
    await c.store.inserted(skipped('newest', { event: LOST }));
    assert.equal(await purged(c.store), 1);
    assert.deepEqual(await c.store.events(keyOf('old')), []);
    await c.store.inserted(pending('old'));
    assert.deepEqual(await c.store.events(keyOf('old')), []);
    assert.equal((await c.store.events(keyOf('newest'))).length, 1);
  }),

  test('a run whose period ended recently stays, however long ago it was written (L-55)', async (c) => {
    await insertedDays(c.store, { lately: -10, 'long ago': 0 });
    await c.elapse('101d');
    await insertedDays(c.store, { newest: -1 });
    assert.equal(await purged(c.store), 1);
    assert.deepEqual(await c.store.periodKeys(), ['lately', 'newest']);
    await c.elapse('10d');
    assert.equal(await purged(c.store), 1);
  }),

  test('a run that was written recently stays, however long ago its period ended (L-55)', async (c) => {
    await insertedDays(c.store, { rewritten: 300 });
    await c.store.inserted(skipped('custom'));
    await insertedDays(c.store, { 'newest day': 299 });
    await c.elapse('101d');
    for (const periodKey of ['rewritten', 'custom'])
      await c.store.written({ reason: 'again' }, { key: keyOf(periodKey) });
    await c.store.inserted(skipped('newest'));
    assert.equal(await purged(c.store), 0);
    await c.elapse('99d');
    assert.equal(await purged(c.store), 0);
    await c.elapse('2d');
    assert.equal(await purged(c.store), 2);
    assert.deepEqual(await c.store.periodKeys(), ['newest day', 'newest']);
  }),

  test('of ticks, so many of each job and scope stay, however old they are, and none counts as missed (L-55)', async (c) => {
    for (const scope of ['', 'eu']) await c.store.inserted(...[5, 1, 3, 2, 4].map((n) => tick(n, scope)));
    await c.store.inserted({ ...tick(0), state: 'pending', reason: undefined });
    for (const n of [1, 2, 3, 4]) await insertedDays(c.store, { [`day-${n}`]: n }, { job: 'daily' });
    await c.elapse('1m');
    const request = { olderThanMs: 0, keptTicks: 3, limit: 3 };
    assert.equal(await purgedInSteps(c.store, request), 4);
    const left = (await c.store.find()).map(({ job, scope, periodKey }) => `${job}/${scope}/${periodKey}`);
    const ticks = [3, 4, 5].flatMap((n) => [`contract//tick-${n}`, `contract/eu/tick-${n}`]);
    const days = [1, 2, 3, 4].map((n) => `daily//day-${n}`);
    assert.deepEqual(left.sort(), ['contract//tick-0', ...ticks, ...days].sort());
    for (const n of [3, 4, 5]) assert.deepEqual(await c.store.kindsOfEvents(keyOf(`tick-${n}`)), []);
    await c.elapse('101d');
    assert.equal(await purged(c.store), 2 + 2 + 3, 'by their age');
    assert.deepEqual(await c.store.kindsOfEvents(keyOf('tick-5')), []);
  }),

  test('a job that no longer runs once per tick keeps the ticks that it had (L-55)', async (c) => {
    await c.store.inserted(tick(1), tick(2));
    await insertedDays(c.store, { 'newest day': -10 });
    await c.elapse('1m');
    assert.equal(await purgedInSteps(c.store, { olderThanMs: 0, keptTicks: 1, limit: 100 }), 0);
  }),

  test('older runs are deleted even if the newest run is unfinished (L-55)', async (c) => {
    await c.store.inserted(skipped('old'));
    await c.elapse('1m');
    await c.store.inserted(pending('newest'));
    await c.elapse('101d');
    assert.equal(await purged(c.store), 1);
    await c.store.has({ state: 'pending' }, keyOf('newest'));
  }),
]);

/** In steps of the limit. @returns how many runs were deleted */
function purged(store: TestedStore, limit = 100): Promise<number> {
  return purgedInSteps(store, { olderThanMs: AGE_MS, limit });
}

async function purgedInSteps(store: TestedStore, request: PurgeRequest): Promise<number> {
  const { deleted, next } = await store.purge(request);
  return next === undefined ? deleted : deleted + (await purgedInSteps(store, { ...request, from: next }));
}

/** A skipped run of the tick so many minutes after a day of 2026. */
function tick(minutes: number, scope = ''): NewRun {
  const periodStart = new Date(Date.UTC(2026, 10, 20, 0, minutes));
  return skipped(`tick-${minutes}`, { scope, periodStart, timeZone: 'UTC' });
}

/** No period before this one counts as missed. */
async function knownFrom(store: TestedStore, scope = ''): Promise<Date | undefined> {
  return (await store.peek({ scope, since: new Date(0) })).firstPeriodStart;
}

/** Inserts a skipped run for each day, given by how many days ago it ended. */
async function insertedDays(
  store: TestedStore,
  daysAgo: Readonly<Record<string, number>>,
  more: Partial<NewRun> = {},
): Promise<void> {
  for (const [periodKey, days] of Object.entries(daysAgo)) {
    const start = new Date((await store.now()).getTime() - (days + 1) * DAY_MS);
    await store.inserted(skipped(periodKey, { ...dayFrom(start), ...more }));
  }
}
