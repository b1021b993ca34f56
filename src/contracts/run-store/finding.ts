import assert from 'node:assert/strict';
import type { NewRun, RunStore } from '../../ledger/run-store';
import { cases } from './fixture';
import {
  JOB,
  LIMIT,
  MINUTE_MS,
  PENDING,
  SKIPPED,
  dayFrom,
  foundBy,
  inserted,
  insertedAs,
  keyOf,
  oneOfEach,
  overdueOf,
  runOf,
  running,
} from './runs';

/** Runs that are found by their fields. */
export const finding = cases({
  async 'a query without conditions finds every run, and none if there are none (L7)'({ store, other }) {
    assert.deepEqual(await foundBy(store), []);
    await days(store);
    assert.deepEqual(await foundBy(other), ['day-1', 'day-2', 'day-3', 'day-4']);
  },

  async 'runs are found by job, by scope, by period and by all of them (L7)'({ store }) {
    const keys = ['a', 'b'].flatMap((job) =>
      ['', 'eu'].flatMap((scope) => ['one', 'two'].map((periodKey) => ({ job, scope, periodKey }))),
    );
    await inserted(store, ...keys.map((key) => ({ ...PENDING, ...key })));
    for (const { job, scope, periodKey } of keys)
      for (const query of [{ job }, { scope }, { periodKey }, { job, scope }, { job, scope, periodKey }]) {
        const runs = await store.find({ ...query, order: 'oldest-first', limit: 100 }, LIMIT);
        const expected = keys.filter((key) =>
          Object.entries(query).every(([part, text]) => Reflect.get(key, part) === text),
        );
        const texts = (found: readonly { job: string; scope: string; periodKey: string }[]) =>
          found.map((key) => [key.job, key.scope, key.periodKey].join('/')).sort();
        assert.deepEqual(texts(runs), texts(expected));
      }
    assert.deepEqual(await foundBy(store, { job: 'c' }), []);
  },

  async 'runs are found by one state, by several states, and by no state (L7)'({ store }) {
    await oneOfEach(store);
    const by = async (...states: NonNullable<Parameters<typeof foundBy>[1]>['states'] & object) =>
      (await foundBy(store, { states })).sort();
    for (const state of ['pending', 'running', 'completed', 'interrupted', 'skipped'] as const)
      assert.deepEqual(await by(state), [state]);
    assert.deepEqual(await by('failed'), ['failed', 'failed permanently']);
    assert.deepEqual(await by('skipped', 'completed'), ['completed', 'skipped']);
    assert.deepEqual(await by(), []);
  },

  async 'from includes the start of a period, and to excludes it (L7)'({ store }) {
    await days(store);
    const [second, fourth] = [new Date('2026-11-02T00:00:00.001Z'), new Date('2026-11-04T00:00:00.001Z')];
    const next = (instant: Date): Date => new Date(instant.getTime() + 1);
    assert.deepEqual(await foundBy(store, { from: second }), ['day-2', 'day-3', 'day-4']);
    assert.deepEqual(await foundBy(store, { from: next(second) }), ['day-3', 'day-4']);
    assert.deepEqual(await foundBy(store, { to: fourth }), ['day-1', 'day-2', 'day-3']);
    assert.deepEqual(await foundBy(store, { to: next(fourth) }), ['day-1', 'day-2', 'day-3', 'day-4']);
    assert.deepEqual(await foundBy(store, { from: second, to: fourth }), ['day-2', 'day-3']);
    assert.deepEqual(await foundBy(store, { from: second, to: second }), []);
  },

  async 'a query returns only runs that match all its conditions (L7)'({ store }) {
    await days(store);
    await inserted(store, { ...running(), ...keyOf('day-2', { scope: 'eu' }), ...dayOf(2) });
    const query = { job: JOB, scope: '', from: dayOf(2).periodStart, states: ['skipped'] } as const;
    assert.deepEqual(await foundBy(store, query), ['day-3', 'day-4']);
    assert.deepEqual(await foundBy(store, { ...query, scope: 'eu', states: ['running'] }), ['day-2']);
  },

  async 'runs are sorted by period, in either order, and the limit keeps the first (L7)'({ store }) {
    await days(store);
    const newest = { order: 'newest-first' } as const;
    assert.deepEqual(await foundBy(store, newest), ['day-4', 'day-3', 'day-2', 'day-1']);
    assert.deepEqual(await foundBy(store, { ...newest, limit: 2 }), ['day-4', 'day-3']);
    assert.deepEqual(await foundBy(store, { limit: 1 }), ['day-1']);
    assert.deepEqual(await foundBy(store, { ...newest, limit: 1, to: dayOf(3).periodStart }), ['day-2']);
  },

  async 'custom keys are sorted by creation, and a query by time does not find them (L7)'({ store, elapse }) {
    for (const periodKey of ['c', 'a', 'b']) {
      await inserted(store, { ...PENDING, periodKey });
      await elapse('1m');
    }
    assert.deepEqual(await foundBy(store), ['c', 'a', 'b']);
    assert.deepEqual(await foundBy(store, { order: 'newest-first', limit: 2 }), ['b', 'a']);
    assert.deepEqual(await foundBy(store, { from: new Date('1980-01-01') }), []);
    assert.deepEqual(await foundBy(store, { to: new Date('2099-01-01') }), []);
  },

  async 'a query returns the whole run (L7)'({ store, other }) {
    await insertedAs(store, { ...running(), ...dayOf(1) }, { result: '{"total":1}', error: 'Error: no' });
    const [run] = await other.find({ order: 'oldest-first', limit: 10 }, LIMIT);
    assert.deepEqual(run, await runOf(store));
  },
});

function dayOf(day: number) {
  return dayFrom(new Date(`2026-11-0${day}T00:00:00.001Z`));
}

/** Four days, the second of which is pending. They are not inserted in their order. */
async function days(store: RunStore): Promise<void> {
  const runs = [3, 1, 4, 2].map((day): NewRun => ({
    ...(day === 2 ? PENDING : SKIPPED),
    ...keyOf(`day-${day}`),
    ...dayOf(day),
  }));
  await inserted(store, ...runs);
}

/** An overview of all jobs. A store without `latest` has none. */
export const latest = cases({
  async 'the latest runs are those of the newest period of each job and scope (L7)'({ store, other }) {
    await latestAre(store, []);
    await days(store);
    const keys = [keyOf('day-2', { scope: 'eu' }), keyOf('day-3', { job: 'another' })];
    await inserted(store, ...keys.map((key, day) => ({ ...SKIPPED, ...key, ...dayOf(day + 2) })));
    await latestAre(other, ['another//day-3', `${JOB}//day-4`, `${JOB}/eu/day-2`]);
  },

  async 'a run with a period is newer than one without, and else the last one is (L7)'({ store }) {
    for (const periodKey of ['c', 'a', 'b']) await inserted(store, { ...PENDING, periodKey });
    await latestAre(store, [`${JOB}//b`]);
    await inserted(store, { ...SKIPPED, ...keyOf('day-1'), ...dayOf(1) }, { ...PENDING, periodKey: 'd' });
    await latestAre(store, [`${JOB}//day-1`]);
  },

  async 'the latest runs include those that are running or interrupted (L7)'({ store }) {
    await oneOfEach(store);
    await days(store);
    const runs = await store.latest?.(LIMIT);
    const all = await store.find({ order: 'newest-first', limit: 100 }, LIMIT);
    for (const { state, periodKey } of all)
      if (state === 'running' || state === 'interrupted')
        assert.ok(runs?.some((run) => run.periodKey === periodKey) ?? true, periodKey);
  },

  async 'a latest run is a run without its result and its error (L7)'({ store }) {
    await insertedAs(store, { ...running(), ...dayOf(1) }, { result: '{"total":1}', error: 'Error: no' });
    const { result, error, ...summary } = await runOf(store);
    assert.ok(result !== undefined && error !== undefined);
    if (store.latest !== undefined) assert.deepEqual(await store.latest(LIMIT), [summary]);
  },
});

async function latestAre(store: RunStore, expected: readonly string[]): Promise<void> {
  const runs = await store.latest?.(LIMIT);
  const texts = runs?.map(({ job, scope, periodKey }) => [job, scope, periodKey].join('/')).sort();
  assert.deepEqual(texts ?? expected, expected);
}

/** Overdue and running runs of an application's jobs. Every guard queries them once a minute. */
export const overdue = cases({
  async 'without runs, no job is overdue (L4)'({ store }) {
    assert.deepEqual(await overdueOf(store), []);
    await inserted(store, PENDING);
    assert.deepEqual(await store.overdue([], LIMIT), []);
  },

  async 'due and running runs count as overdue, and no others (L4)'({ store, other }) {
    await oneOfEach(store, { scoped: true });
    const overdue = ['failed', 'pending', 'running'].map((scope) => `${JOB}/${scope}`);
    assert.deepEqual((await overdueOf(other)).sort(), overdue);
  },

  async 'each job and scope is returned once, regardless of how many of its runs are overdue (L4)'({
    store,
  }) {
    const keys = [keyOf('a'), keyOf('a', { job: 'another' }), keyOf('a', { scope: 'eu' })];
    for (const [i, key] of keys.entries())
      for (const periodKey of ['a', 'b'])
        await inserted(store, { ...(i === 0 ? running() : PENDING), ...key, periodKey });
    await inserted(store, { ...SKIPPED, ...keyOf('over', { scope: 'us' }) });
    const overdue = keys.map(({ job, scope }) => `${job}/${scope}`).sort();
    assert.deepEqual((await overdueOf(store, 'another')).sort(), overdue);
  },

  async 'overdue runs of other jobs are not returned (L4)'({ store }) {
    for (const job of ['unknown', JOB.toUpperCase(), `${JOB}s`, 'jo"b', "jo'b", 'jöb'])
      await inserted(store, { ...PENDING, ...keyOf('a', { job }) });
    const hundreds = Array.from({ length: 300 }, (_, i) => `job-${i}`);
    assert.deepEqual(await overdueOf(store, ...hundreds), []);
    await inserted(store, PENDING);
    const names = ['jo"b', "jo'b", 'jöb'];
    const overdue = [JOB, ...names].map((job) => `${job}/`).sort();
    assert.deepEqual((await overdueOf(store, ...hundreds, ...names)).sort(), overdue);
  },

  async 'the run that has been due or running for the longest time comes first (L4)'({ store }) {
    const minutesAgo = { second: 40, fourth: 20, first: 50, third: 30 };
    for (const [scope, minutes] of Object.entries(minutesAgo)) {
      const runs = scope === 'second' || scope === 'third';
      const run = runs ? running() : PENDING;
      await insertedAs(store, { ...run, scope }, ({ now }) => {
        const since = new Date(now.getTime() - minutes * MINUTE_MS);
        return runs ? { startedAt: since } : { nextAttemptAt: since };
      });
    }
    await inserted(store, { ...PENDING, scope: 'first', periodKey: 'later' });
    const overdue = ['first', 'second', 'third', 'fourth'].map((scope) => `${JOB}/${scope}`);
    assert.deepEqual(await overdueOf(store), overdue);
  },
});
