import assert from 'node:assert/strict';
import type { RunKey } from '#cronlatch/ledger/run';
import type { RunState } from '#cronlatch/ledger/run-state';
import type { SummaryQuery } from '#cronlatch/ledger/run-store';
import { cases } from './fixture';
import { oneOfEach } from './one-of-each';
import { JOB, MINUTE_MS, PENDING, SKIPPED, dayFrom, keyOf, pending, running, skipped } from './runs';
import { LIMIT, type TestedStore } from './tested-store';

/** Runs that are found by their fields. */
export const finding = cases((test) => [
  test('a query without conditions finds every run, and none if there are none (L7)', async (c) => {
    assert.deepEqual(await c.store.periodKeys(), []);
    await days(c.store);
    assert.deepEqual(await c.other.periodKeys(), ['day-1', 'day-2', 'day-3', 'day-4']);
  }),

  test('runs are found by job, by scope, by period and by all of them (L7)', async (c) => {
    const keys = ['a', 'b'].flatMap((job) =>
      ['', 'eu'].flatMap((scope) => ['one', 'two'].map((periodKey) => ({ job, scope, periodKey }))),
    );
    await c.store.inserted(...keys.map((key) => ({ ...PENDING, ...key })));
    for (const { job, scope, periodKey } of keys)
      for (const query of [{ job }, { scope }, { periodKey }, { job, scope }, { job, scope, periodKey }]) {
        const expected = keys.filter((key) =>
          Object.entries(query).every(([part, text]) => Reflect.get(key, part) === text),
        );
        assert.deepEqual(textsOf(await c.store.find(query)), textsOf(expected));
      }
    assert.deepEqual(await c.store.periodKeys({ job: 'c' }), []);
  }),

  test('runs are found by one state, by several states, and by no state (L7)', async (c) => {
    await oneOfEach(c.store);
    const by = async (...states: RunState[]) => (await c.store.periodKeys({ states })).sort();
    for (const state of ['pending', 'running', 'completed', 'interrupted', 'skipped'] as const)
      assert.deepEqual(await by(state), [state]);
    assert.deepEqual(await by('failed'), ['failed', 'failed permanently']);
    assert.deepEqual(await by('skipped', 'completed'), ['completed', 'skipped']);
    assert.deepEqual(await by(), []);
  }),

  test('from includes the start of a period, and to excludes it (L7)', async (c) => {
    await days(c.store);
    const [second, fourth] = [dayOf(2).periodStart, dayOf(4).periodStart];
    const next = (instant: Date): Date => new Date(instant.getTime() + 1);
    assert.deepEqual(await c.store.periodKeys({ from: second }), ['day-2', 'day-3', 'day-4']);
    assert.deepEqual(await c.store.periodKeys({ from: next(second) }), ['day-3', 'day-4']);
    assert.deepEqual(await c.store.periodKeys({ to: fourth }), ['day-1', 'day-2', 'day-3']);
    assert.deepEqual(await c.store.periodKeys({ to: next(fourth) }), ['day-1', 'day-2', 'day-3', 'day-4']);
    assert.deepEqual(await c.store.periodKeys({ from: second, to: fourth }), ['day-2', 'day-3']);
    assert.deepEqual(await c.store.periodKeys({ from: second, to: second }), []);
  }),

  test('a query returns only runs that match all its conditions (L7)', async (c) => {
    await days(c.store);
    await c.store.inserted({ ...running(), ...keyOf('day-2', { scope: 'eu' }), ...dayOf(2) });
    const query = { job: JOB, scope: '', from: dayOf(2).periodStart, states: ['skipped'] } as const;
    assert.deepEqual(await c.store.periodKeys(query), ['day-3', 'day-4']);
    assert.deepEqual(await c.store.periodKeys({ ...query, scope: 'eu', states: ['running'] }), ['day-2']);
  }),

  test('runs are sorted by period, in either order, and the limit keeps the first (L7)', async (c) => {
    await days(c.store);
    const newest = { order: 'newest-first' } as const;
    assert.deepEqual(await c.store.periodKeys(newest), ['day-4', 'day-3', 'day-2', 'day-1']);
    assert.deepEqual(await c.store.periodKeys({ ...newest, limit: 2 }), ['day-4', 'day-3']);
    assert.deepEqual(await c.store.periodKeys({ limit: 1 }), ['day-1']);
    assert.deepEqual(await c.store.periodKeys({ ...newest, limit: 1, to: dayOf(3).periodStart }), ['day-2']);
  }),

  test('custom keys are sorted by creation, and a query by time does not find them (L7)', async (c) => {
    for (const periodKey of ['c', 'a', 'b']) {
      await c.store.inserted(pending(periodKey));
      await c.elapse('1m');
    }
    assert.deepEqual(await c.store.periodKeys(), ['c', 'a', 'b']);
    assert.deepEqual(await c.store.periodKeys({ order: 'newest-first', limit: 2 }), ['b', 'a']);
    assert.deepEqual(await c.store.periodKeys({ from: new Date('1980-01-01') }), []);
    assert.deepEqual(await c.store.periodKeys({ to: new Date('2099-01-01') }), []);
  }),

  test('a query returns the whole run (L7)', async (c) => {
    await c.store.insertedAs({ ...running(), ...dayOf(1) }, { result: '{"total":1}', error: 'Error: no' });
    const [run] = await c.other.find();
    assert.deepEqual(run, await c.store.run());
  }),
]);

function dayOf(day: number) {
  return dayFrom(`2026-11-0${day}T00:00:00.001Z`);
}

/** Four days, the second of which is pending. They are not inserted in their order. */
async function days(store: TestedStore): Promise<void> {
  for (const day of [3, 1, 4, 2])
    await store.inserted({ ...(day === 2 ? PENDING : SKIPPED), ...dayOf(day), periodKey: `day-${day}` });
}

function textsOf(runs: readonly RunKey[]): string[] {
  return runs.map(({ job, scope, periodKey }) => `${job}/${scope}/${periodKey}`).sort();
}

/** An overview of all jobs. */
export const latest = cases((test) => [
  test('the latest runs are those of the newest period of each job and scope (L7)', async (c) => {
    await latestAre(c.store, []);
    await days(c.store);
    await c.store.inserted(skipped('day-2', { scope: 'eu', ...dayOf(2) }));
    await c.store.inserted(skipped('day-3', { job: 'another', ...dayOf(3) }));
    await latestAre(c.other, ['another//day-3', `${JOB}//day-4`, `${JOB}/eu/day-2`]);
  }),

  test('a run with a period is newer than one without, and else the last one is (L7)', async (c) => {
    await c.store.inserted(pending('c'), pending('a'), pending('b'));
    await latestAre(c.store, [`${JOB}//b`]);
    await c.store.inserted(skipped('day-1', dayOf(1)), pending('d'));
    await latestAre(c.store, [`${JOB}//day-1`]);
  }),

  test('the latest runs include those that are running or interrupted (L7)', async (c) => {
    await oneOfEach(c.store);
    await days(c.store);
    const runs = await c.store.raw.latest(LIMIT);
    for (const { state, periodKey } of await c.store.find())
      if (state === 'running' || state === 'interrupted')
        assert.ok(
          runs.some((run) => run.periodKey === periodKey),
          periodKey,
        );
  }),

  test('a latest run has the beginning of its error, and no result (L7)', async (c) => {
    const error = `Error: ${'no'.repeat(300)}`;
    await c.store.insertedAs({ ...running(), ...dayOf(1) }, { result: '{"total":1}', error });
    const { result, error: whole, ...summary } = await c.store.run();
    assert.deepEqual([result, whole], ['{"total":1}', error]);
    const latest = { ...summary, error: error.slice(0, 500) };
    assert.deepEqual(await c.store.raw.latest(LIMIT), [latest]);
  }),
]);

async function latestAre({ raw }: TestedStore, expected: readonly string[]): Promise<void> {
  assert.deepEqual(textsOf(await raw.latest(LIMIT)), expected);
}

/** An overview of a period. */
export const summaries = cases((test) => [
  test('summaries are the runs of the given jobs in a period, the newest period first (L7)', async (c) => {
    await days(c.store);
    const noon = (job: string) => skipped(`noon of ${job}`, { job, ...dayFrom('2026-11-02T12:00:00Z') });
    await c.store.inserted(noon('another'), noon('not given'), noon(JOB.toUpperCase()), pending('custom'));
    const jobs = [JOB, 'another', 'unknown'];
    await summariesAre(c.other, { jobs }, ['day-3', 'noon of another', 'day-2']);
    await summariesAre(c.other, { jobs, limit: 2 }, ['day-3', 'noon of another']);
    await summariesAre(c.other, { jobs: [JOB] }, ['day-3', 'day-2']);
    await summariesAre(c.other, { jobs: [] }, []);
  }),

  test('a summary has neither a result nor an error (L7)', async (c) => {
    await c.store.insertedAs({ ...running(), ...dayOf(2) }, { result: '{"total":1}', error: 'Error: no' });
    const { result, error, ...summary } = await c.store.run();
    assert.deepEqual([result, error], ['{"total":1}', 'Error: no']);
    const query = { ...SECOND_AND_THIRD, jobs: [JOB], limit: 1 };
    assert.deepEqual(await c.store.raw.summaries(query, LIMIT), [summary]);
  }),
]);

/** What an overview needs of many jobs. */
export const since = cases((test) => [
  test('the runs of each job since its own start are returned, without result and error (L7)', async (c) => {
    for (const day of [1, 2, 3])
      for (const job of [JOB, 'another', 'not given', JOB.toUpperCase()])
        await c.store.inserted(skipped(`day-${day}`, { job, ...dayOf(day) }));
    await c.store.inserted(skipped('day-2', { scope: 'eu', ...dayOf(2) }), pending('custom'));
    const starts = new Map([
      [JOB, dayOf(2).periodStart],
      ['another', new Date(dayOf(2).periodStart.getTime() + 1)],
      ['unknown', dayOf(1).periodStart],
    ]);
    const runs = await c.other.raw.since(starts, LIMIT);
    assert.deepEqual(textsOf(runs), [`another//day-3`, `${JOB}//day-2`, `${JOB}//day-3`, `${JOB}/eu/day-2`]);
    assert.deepEqual(await c.other.raw.since(new Map(), LIMIT), []);
    const { result: _result, error: _error, ...summary } = await c.store.run(keyOf('day-2'));
    assert.deepEqual(
      runs.find(({ scope, periodKey }) => scope === '' && periodKey === 'day-2'),
      summary,
    );
  }),
]);

const SECOND_AND_THIRD = { from: dayOf(2).periodStart, to: dayOf(4).periodStart };

async function summariesAre(
  { raw }: TestedStore,
  query: Pick<SummaryQuery, 'jobs'> & Partial<SummaryQuery>,
  expected: readonly string[],
): Promise<void> {
  const runs = await raw.summaries({ ...SECOND_AND_THIRD, limit: 1000, ...query }, LIMIT);
  assert.deepEqual(
    runs.map(({ periodKey }) => periodKey),
    expected,
  );
}

/** Overdue and running runs of an application's jobs. Every guard queries them once a minute. */
export const overdue = cases((test) => [
  test('without runs, no job is overdue (L4)', async (c) => {
    assert.deepEqual(await c.store.overdue(), []);
    await c.store.inserted(PENDING);
    assert.deepEqual(await c.store.overdue([]), []);
  }),

  test('due and running runs count as overdue, and no others (L4)', async (c) => {
    await oneOfEach(c.store, { scoped: true });
    assert.deepEqual((await c.other.overdue()).sort(), [`${JOB}/failed`, `${JOB}/pending`, `${JOB}/running`]);
  }),

  test('each job and scope is returned once, regardless of how many of its runs are overdue (L4)', async (c) => {
    for (const periodKey of ['a', 'b']) {
      await c.store.inserted({ ...running(), periodKey });
      await c.store.inserted(pending(periodKey, { job: 'another' }), pending(periodKey, { scope: 'eu' }));
    }
    await c.store.inserted(skipped('over', { scope: 'us' }));
    const overdue = (await c.store.overdue([JOB, 'another'])).sort();
    assert.deepEqual(overdue, ['another/', `${JOB}/`, `${JOB}/eu`]);
  }),

  test('overdue runs of other jobs are not returned (L4)', async (c) => {
    const names = ['jo"b', "jo'b", 'jöb'];
    for (const job of ['unknown', JOB.toUpperCase(), `${JOB}s`, ...names])
      await c.store.inserted(pending('a', { job }));
    const jobs = [JOB, ...Array.from({ length: 300 }, (_, i) => `job-${i}`)];
    assert.deepEqual(await c.store.overdue(jobs), []);
    await c.store.inserted(PENDING);
    const expected = [JOB, ...names].map((job) => `${job}/`).sort();
    assert.deepEqual((await c.store.overdue([...jobs, ...names])).sort(), expected);
  }),

  test('the run that has been due or running for the longest time comes first (L4)', async (c) => {
    const minutesAgo = { second: 40, fourth: 20, first: 50, third: 30 };
    for (const [scope, minutes] of Object.entries(minutesAgo)) {
      const since = new Date((await c.store.now()).getTime() - minutes * MINUTE_MS);
      if (scope === 'first' || scope === 'fourth')
        await c.store.insertedAs({ ...PENDING, scope }, { nextAttemptAt: since });
      else await c.store.insertedAs({ ...running(), scope }, { startedAt: since });
    }
    await c.store.inserted(pending('later', { scope: 'first' }));
    const expected = ['first', 'second', 'third', 'fourth'].map((scope) => `${JOB}/${scope}`);
    assert.deepEqual(await c.store.overdue(), expected);
  }),
]);
