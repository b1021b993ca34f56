import assert from 'node:assert/strict';
import type { RunSummary } from '#cronlatch/ledger/run';
import { cases } from './fixture';
import { NOT_OVERDUE, OVERDUE, oneOfEach } from './one-of-each';
import { DAY_MS, JOB, KEY, MINUTE_MS, PENDING, dayFrom, dueIn, pending, running, skipped } from './runs';

/** One peek at a job, before the ledger asks for its lock. Most ticks need no more than this. */
export const peeking = cases((test) => [
  test('a peek at a job without runs returns now, and nothing else (L4)', async (c) => {
    const { now, runs, firstPeriodStart } = await c.store.peek({ periodKey: 'day', since: new Date(0) });
    assert.ok(now instanceof Date && !Number.isNaN(now.getTime()), 'now should be an instant');
    assert.deepEqual({ runs, firstPeriodStart }, NOTHING);
  }),

  test('the store’s now moves on with time (L4)', async (c) => {
    await c.store.inserted(PENDING);
    await c.elapse('10m');
    await c.store.assertAge((await c.store.run()).createdAt, 10 * MINUTE_MS);
    await c.elapse('300d');
    await c.store.assertAge((await c.store.run()).createdAt, 10 * MINUTE_MS + 300 * DAY_MS);
  }),

  test('both instances have the same now (L4)', async (c) => {
    await c.elapse('1d');
    const [before, between, after] = [await c.store.now(), await c.other.now(), await c.store.now()];
    assert.ok(before <= between && between <= after);
  }),

  test('a peek at a period returns its run in any state (L3)', async (c) => {
    await oneOfEach(c.store);
    for (const periodKey of [...NOT_OVERDUE, ...OVERDUE]) {
      const expected = [...new Set([...OVERDUE, periodKey])].sort();
      assert.deepEqual(await c.store.peekedKeys({ periodKey }), expected);
    }
  }),

  test('a peek returns due and running runs of any period, and no others (L4)', async (c) => {
    await oneOfEach(c.store);
    assert.deepEqual(await c.store.peekedKeys(), OVERDUE);
  }),

  test('a pending or failed run is due at its next attempt, not before (L-26)', async (c) => {
    for (const state of ['pending', 'failed'] as const)
      await c.store.insertedAs(pending(state), dueIn(10 * MINUTE_MS, { state }));
    await c.elapse('9m');
    assert.deepEqual(await c.store.peekedKeys(), []);
    assert.deepEqual(await c.store.overdue(), []);
    await c.elapse('1m');
    assert.deepEqual(await c.store.peekedKeys(), ['failed', 'pending']);
    assert.deepEqual(await c.store.overdue(), [`${JOB}/`]);
  }),

  test('a peek does not return runs of another job or scope (L4)', async (c) => {
    const period = dayFrom('2026-11-19T16:00:00Z');
    for (const another of [{ job: 'another' }, { scope: 'another' }, { job: '' }])
      await c.store.inserted({ ...running(), ...period, ...another });
    const { runs, firstPeriodStart } = await c.store.peek({ ...KEY, since: new Date(0) });
    assert.deepEqual({ runs, firstPeriodStart }, NOTHING);
    const { runs: scoped } = await c.store.peek({ scope: 'another' });
    const subjects = scoped.map(({ job, scope }) => ({ job, scope }));
    assert.deepEqual(subjects, [{ job: JOB, scope: 'another' }]);
  }),

  test('a peek returns every run whose period starts at the given time or later (L-46)', async (c) => {
    for (const [i, date] of ['2026-11-20', '2026-11-21', '2026-11-22'].entries())
      await c.store.inserted(skipped(`day-${i}`, dayFrom(`${date}T00:00:00.001Z`)));
    await c.store.inserted(skipped('custom'));
    const since = (start: string) => c.store.peekedKeys({ since: new Date(start) });
    assert.deepEqual(await since('2026-11-21T00:00:00.001Z'), ['day-1', 'day-2']);
    assert.deepEqual(await since('2026-11-21T00:00:00.002Z'), ['day-2']);
    assert.deepEqual(await since('2026-11-20T00:00:00Z'), ['day-0', 'day-1', 'day-2']);
    assert.deepEqual(await since('2026-11-23T00:00:00Z'), []);
  }),

  test('a peek returns the start of the earliest period, regardless of its outcome (L-48)', async (c) => {
    const [first, second] = [dayFrom('2026-11-19T16:00:00.001Z'), dayFrom('2026-11-20T16:00:00Z')];
    await c.store.inserted(skipped('custom'));
    assert.equal((await c.store.peek()).firstPeriodStart, undefined);
    await c.store.inserted(pending('second', second));
    assert.deepEqual((await c.store.peek()).firstPeriodStart, second.periodStart);
    await c.store.inserted(skipped('first', first));
    const { firstPeriodStart } = await c.store.peek({ since: second.periodStart });
    assert.deepEqual(firstPeriodStart, first.periodStart);
  }),

  test('a run that matches several conditions of a peek is returned once (L4)', async (c) => {
    const period = dayFrom('2026-11-19T16:00:00Z');
    await c.store.inserted({ ...running(), ...period }, pending('another', period));
    const keys = await c.store.peekedKeys({ ...KEY, since: period.periodStart });
    assert.deepEqual(keys, [KEY.periodKey, 'another']);
  }),

  test('a peek returns the values of the row (L4)', async (c) => {
    const run = { ...running(), ...dayFrom('2026-11-19T16:00:00.123Z') };
    const values = { generation: 2, attempt: 3, reason: 'before', fencingToken: Number.MAX_SAFE_INTEGER };
    await c.store.insertedAs(run, ({ now }) => ({ ...values, nextAttemptAt: now, finishedAt: now }));
    const [found] = (await c.other.peek(KEY)).runs;
    assert.ok(found !== undefined);
    assert.deepEqual(summary(found), summary(await c.store.run()));
  }),
]);

const NOTHING = { runs: [], firstPeriodStart: undefined };

/** Every field but the long texts, which a peek may leave out. */
function summary(run: RunSummary): [string, unknown][] {
  const fields = Object.entries(run).filter(([field]) => field !== 'result' && field !== 'error');
  return fields.sort(([a], [b]) => a.localeCompare(b));
}
