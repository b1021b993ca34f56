import assert from 'node:assert/strict';
import type { Run, RunSummary } from '../../ledger/run';
import { assertAge } from './assertions';
import { cases } from './fixture';
import {
  CLAIM,
  DAY_MS,
  JOB,
  KEY,
  LIMIT,
  MINUTE_MS,
  NOT_OVERDUE,
  OVERDUE,
  PENDING,
  SKIPPED,
  dayFrom,
  inserted,
  insertedAs,
  keyOf,
  nowOf,
  oneOfEach,
  overdueOf,
  peeked,
  periodKeysOf,
  runOf,
  running,
} from './runs';

/** One peek at a job, before the ledger asks for its lock. Most ticks need no more than this. */
export const peeking = cases({
  async 'a peek at a job without runs returns now, and nothing else (L4)'({ store }) {
    const { now, runs, firstPeriodStart } = await peeked(store, { periodKey: 'day', since: new Date(0) });
    assert.ok(now instanceof Date && !Number.isNaN(now.getTime()));
    assert.deepEqual({ runs, firstPeriodStart }, { runs: [], firstPeriodStart: undefined });
  },

  async 'the store’s now moves on with time (L4)'({ store, elapse }) {
    await inserted(store, PENDING);
    await elapse('10m');
    await assertAge(store, (await runOf(store)).createdAt, 10 * MINUTE_MS);
    await elapse('300d');
    await assertAge(store, (await runOf(store)).createdAt, 10 * MINUTE_MS + 300 * DAY_MS);
  },

  async 'both instances have the same now (L4)'({ store, other, elapse }) {
    await elapse('1d');
    const [before, between, after] = [await nowOf(store), await nowOf(other), await nowOf(store)];
    assert.ok(before <= between && between <= after);
  },

  async 'a peek at a period returns its run in any state (L3)'({ store }) {
    await oneOfEach(store);
    for (const periodKey of [...NOT_OVERDUE, ...OVERDUE]) {
      const runs = periodKeysOf((await peeked(store, { periodKey })).runs);
      assert.deepEqual(runs, [...new Set([...OVERDUE, periodKey])].sort());
    }
  },

  async 'a peek returns due and running runs of any period, and no others (L4)'({ store }) {
    await oneOfEach(store);
    assert.deepEqual(periodKeysOf((await peeked(store)).runs), OVERDUE);
  },

  async 'a pending or failed run is due at its next attempt, not before (L-26)'({ store, elapse }) {
    for (const state of ['pending', 'failed'] as const)
      await insertedAs(store, { ...PENDING, periodKey: state }, ({ now }) => ({
        state,
        nextAttemptAt: new Date(now.getTime() + 10 * MINUTE_MS),
      }));
    await elapse('9m');
    assert.deepEqual((await peeked(store)).runs, []);
    assert.deepEqual(await overdueOf(store), []);
    await elapse('1m');
    assert.deepEqual(periodKeysOf((await peeked(store)).runs), ['failed', 'pending']);
    assert.deepEqual(await overdueOf(store), [`${JOB}/`]);
  },

  async 'a peek does not return runs of another job or scope (L4)'({ store }) {
    const others = [{ job: 'another' }, { scope: 'another' }, { job: '' }];
    const period = dayFrom(new Date('2026-11-19T16:00:00Z'));
    for (const another of others) await inserted(store, { ...running(), ...period, ...another });
    const { runs, firstPeriodStart } = await peeked(store, { ...KEY, since: new Date(0) });
    assert.deepEqual({ runs, firstPeriodStart }, { runs: [], firstPeriodStart: undefined });
    const scoped = { job: JOB, scope: 'another', periodKey: undefined, since: undefined };
    const { runs: ofScope } = await store.peek(scoped, LIMIT);
    assert.deepEqual(
      ofScope.map(({ job, scope }) => ({ job, scope })),
      [{ job: JOB, scope: 'another' }],
    );
  },

  async 'a peek returns every run whose period starts at the given time or later (L-46)'({ store }) {
    const starts = [20, 21, 22].map((day) => new Date(`2026-11-${day}T00:00:00.001Z`));
    for (const [i, start] of starts.entries())
      await inserted(store, { ...SKIPPED, ...keyOf(`day-${i}`), ...dayFrom(start) });
    await inserted(store, { ...SKIPPED, ...keyOf('custom') });
    const since = async (start: Date) => periodKeysOf((await peeked(store, { since: start })).runs);
    assert.deepEqual(await since(new Date('2026-11-21T00:00:00.001Z')), ['day-1', 'day-2']);
    assert.deepEqual(await since(new Date('2026-11-21T00:00:00.002Z')), ['day-2']);
    assert.deepEqual(await since(new Date('2026-11-20T00:00:00Z')), ['day-0', 'day-1', 'day-2']);
    assert.deepEqual(await since(new Date('2026-11-23T00:00:00Z')), []);
  },

  async 'a peek returns the start of the earliest period, regardless of its outcome (L-48)'({ store }) {
    const [first, second] = [new Date('2026-11-19T16:00:00.001Z'), new Date('2026-11-20T16:00:00Z')];
    await inserted(store, { ...SKIPPED, ...keyOf('custom') });
    assert.equal((await peeked(store)).firstPeriodStart, undefined);
    await inserted(store, { ...PENDING, ...keyOf('second'), ...dayFrom(second) });
    assert.deepEqual((await peeked(store)).firstPeriodStart, second);
    await inserted(store, { ...SKIPPED, ...keyOf('first'), ...dayFrom(first) });
    assert.deepEqual((await peeked(store, { since: second })).firstPeriodStart, first);
  },

  async 'a run that matches several conditions of a peek is returned once (L4)'({ store }) {
    const start = new Date('2026-11-19T16:00:00Z');
    await inserted(store, { ...running(), ...dayFrom(start) });
    await inserted(store, { ...PENDING, periodKey: 'another', ...dayFrom(start) });
    const { runs } = await peeked(store, { ...KEY, since: start });
    assert.deepEqual(periodKeysOf(runs), [KEY.periodKey, 'another']);
  },

  async 'a peek returns the values of the row (L4)'({ store, other }) {
    await insertedAs(
      store,
      { ...running(), ...dayFrom(new Date('2026-11-19T16:00:00.123Z')) },
      ({ now }) => ({
        ...{ generation: 2, attempt: 3, nextAttemptAt: now, finishedAt: now, reason: 'before' },
        ...{ claimedBy: CLAIM.claimedBy, fencingToken: Number.MAX_SAFE_INTEGER },
      }),
    );
    const [found] = (await peeked(other, KEY)).runs;
    assert.ok(found !== undefined);
    assert.deepEqual(summary(found), summary(await runOf(store)));
  },
});

/** Every field but the long texts, which a peek may leave out. */
function summary(run: RunSummary | Run): [string, unknown][] {
  const fields = Object.entries(run).filter(([field]) => field !== 'result' && field !== 'error');
  return fields.sort(([a], [b]) => a.localeCompare(b));
}
