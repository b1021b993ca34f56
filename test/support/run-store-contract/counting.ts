import assert from 'node:assert/strict';
import type { Run } from '#cronlatch/ledger/run';
import { cases } from './fixture';
import { JOB, MINUTE_MS, dayFrom, pending } from './runs';
import { LIMIT, type TestedStore } from './tested-store';

const [FIRST, SECOND] = ['2026-11-02T18:15:00.000Z', '2026-11-02T18:30:00.000Z'];
const SKIPPED = { state: 'skipped', nextAttemptAt: undefined } as const;

/** An overview of jobs with many runs. */
export const counting = cases((test) => [
  test('runs of the given jobs are counted by state and quarter of an hour, the newest first (L7)', async (c) => {
    await c.store.inserted(pending('custom'));
    await insert(c.store, '2026-11-02T18:14:59.999Z', completedAfter(1000));
    await insert(c.store, FIRST, completedAfter(1000));
    await insert(c.store, '2026-11-02T18:20:00.000Z', { ...completedAfter(2500), job: 'another' });
    await insert(c.store, '2026-11-02T18:29:59.998Z', SKIPPED);
    await insert(c.store, '2026-11-02T18:29:59.999Z', { ...completedAfter(2000), scope: 'eu' });
    await insert(c.store, SECOND, completedAfter(400));
    await insert(c.store, '2026-11-02T18:31:00.000Z', { ...completedAfter(0), startedAt: undefined });
    await insert(c.store, '2026-11-02T18:44:59.999Z', {});
    for (const job of ['not given', JOB.toUpperCase()]) await insert(c.store, FIRST, { job });
    await insert(c.store, '2026-11-02T18:45:00.000Z', SKIPPED);
    const [both, own] = [[JOB, 'another', 'unknown'], [JOB]];
    const ofAnother = [`${FIRST} another completed: 1 of 2500 ms`];
    const ofOwn = [
      `${SECOND} ${JOB} completed: 2 of 400 ms`,
      `${SECOND} ${JOB} pending: 1`,
      `${FIRST} ${JOB} completed: 2 of 1500 ms`,
      `${FIRST} ${JOB} skipped: 1`,
    ];
    const [from, to] = [new Date(FIRST), new Date('2026-11-02T18:45:00.000Z')];
    assert.deepEqual(await counted(c.other, { jobs: both, from, to }), sorted([...ofAnother, ...ofOwn]));
    assert.deepEqual(await counted(c.other, { jobs: own, from, to }), sorted(ofOwn));
    assert.deepEqual(await counted(c.other, { jobs: [], from, to }), []);
  }),

  test('a count of runs before 1970 has the start of its quarter, too (L7)', async (c) => {
    await insert(c.store, '1969-12-31T23:44:59.999Z', {});
    await insert(c.store, '1969-12-31T23:45:00.000Z', {});
    await insert(c.store, '1969-12-31T23:59:59.999Z', {});
    const query = { jobs: [JOB], from: new Date('1969-12-31'), to: new Date(0) };
    assert.deepEqual(await counted(c.store, query), [
      `1969-12-31T23:45:00.000Z ${JOB} pending: 2`,
      `1969-12-31T23:30:00.000Z ${JOB} pending: 1`,
    ]);
  }),
]);

/** A run of the period that starts then. */
async function insert(store: TestedStore, start: string, edit: Partial<Run>): Promise<void> {
  const { job = JOB, scope = '', ...values } = edit;
  await store.insertedAs(pending(start, { job, scope, ...dayFrom(start) }), values);
}

function completedAfter(ms: number): Partial<Run> {
  const startedAt = new Date(Date.parse(SECOND) + MINUTE_MS);
  const finishedAt = new Date(startedAt.getTime() + ms);
  return { state: 'completed', nextAttemptAt: undefined, startedAt, finishedAt };
}

/** Groups of the same quarter have no order, so they are sorted. */
async function counted({ raw }: TestedStore, query: Parameters<TestedStore['raw']['counts']>[0]) {
  const counts = await raw.counts(query, LIMIT);
  const starts = counts.map(({ start }) => start.getTime());
  assert.deepEqual(
    starts,
    starts.toSorted((a, b) => b - a),
  );
  return sorted(
    counts.map(({ job, state, start, count, meanMs }) => {
      const mean = meanMs === undefined ? '' : ` of ${meanMs} ms`;
      return `${start.toISOString()} ${job} ${state}: ${count}${mean}`;
    }),
  );
}

function sorted(texts: readonly string[]): string[] {
  return texts.toSorted().reverse();
}
