import assert from 'node:assert/strict';
import type { Run } from '#cronlatch/ledger/run';
import { cases } from './fixture';
import { DAY_MS, KEY, LOST, MINUTE_MS, NEVER_STARTED, PENDING, dayFrom, keyOf, running } from './runs';

/** A row is read, decided about and written in one step. */
export const changing = cases((test) => [
  test('without a row, the decision gets none, and nothing is written (L3)', async (c) => {
    const another = keyOf('another');
    await c.other.inserted({ ...running(), ...another });
    const write = { ...(await c.other.run(another)), ...KEY };
    const seen = await c.store.change((row) => ({ value: { row }, write, events: [LOST] }));
    assert.deepEqual(seen, { row: undefined });
    assert.deepEqual(await c.other.periodKeys(), ['another']);
    assert.deepEqual(await c.other.events(), []);
  }),

  test('a decision gets the current row and the store’s now, and its value is returned (L3)', async (c) => {
    await c.other.inserted(running());
    await c.other.written({ attempt: 2, reason: 'seen' });
    await c.elapse('1d');
    const answer = { some: 'value' };
    const { value, assertIsNow } = await c.store.readClockAround(async () => {
      const seen = await c.store.found();
      assert.equal(await c.store.change(() => ({ value: answer })), answer);
      return seen;
    });
    assertIsNow({ now: value.now });
    assert.equal(value.run.attempt, 2);
    assert.deepEqual(value.run, await c.other.run());
  }),

  test('a decision can write every mutable field, and the other instance sees it (L3)', async (c) => {
    await c.store.inserted(PENDING);
    const write = () => c.store.written(({ run }) => everyField(run));
    const { value, assertIsNow } = await c.store.readClockAround(write);
    const run = await c.other.run();
    assertIsNow({ updatedAt: run.updatedAt });
    assert.deepEqual(run, { ...value, updatedAt: run.updatedAt });
  }),

  test('a decision can clear every optional field (L3)', async (c) => {
    await c.store.inserted(PENDING);
    await c.store.written(({ run }) => everyField(run));
    const cleared = { ...NEVER_STARTED, state: 'interrupted', generation: 3, attempt: 4 } as const;
    await c.store.written(cleared);
    const run = await c.other.run();
    const { createdAt, updatedAt } = run;
    assert.deepEqual(run, { ...PENDING, ...cleared, createdAt, updatedAt });
  }),

  test('key, period and creation stay, regardless of what a decision writes (L1)', async (c) => {
    await c.store.inserted({ ...PENDING, ...dayFrom('2026-11-19T16:00:00Z') });
    await c.elapse('1d');
    const before = await c.store.run();
    await c.store.written(({ now }) => ({
      ...dayFrom(now),
      timeZone: 'UTC',
      job: 'another',
      scope: 'another',
      periodKey: 'another',
      createdAt: now,
      updatedAt: new Date(0),
    }));
    const after = await c.store.run();
    assert.deepEqual(after, { ...before, updatedAt: after.updatedAt });
    await c.store.assertAge(after.createdAt, DAY_MS);
    await c.store.assertAge(after.updatedAt, 0);
    assert.deepEqual(await c.store.periodKeys(), [KEY.periodKey]);
  }),

  test('a decision that writes nothing leaves the row unchanged (L3)', async (c) => {
    await c.store.inserted(PENDING);
    await c.elapse('10m');
    const before = await c.store.run();
    await c.store.change(() => ({ value: 1, events: [] }));
    const after = await c.store.run();
    assert.deepEqual(after, before);
    await c.store.assertAge(after.updatedAt, 10 * MINUTE_MS);
  }),

  test('the error of a decision is rethrown unchanged, and nothing is written (L3)', async (c) => {
    await c.store.inserted(PENDING);
    const before = await c.store.run();
    const error = new Error('cannot decide');
    const decide = (): never => {
      throw error;
    };
    await assert.rejects(c.store.change(decide), (thrown) => thrown === error);
    assert.deepEqual(await c.other.run(), before);
    await c.other.written({ attempt: 1 });
    await c.store.has({ attempt: 1 });
  }),

  test('a change of one run leaves all others unchanged (L3)', async (c) => {
    const keys = [keyOf('another'), keyOf(KEY.periodKey, { scope: 'another' })];
    await c.store.inserted(PENDING, ...keys.map((key) => ({ ...PENDING, ...key })));
    const before = [];
    for (const key of keys) before.push(await c.store.run(key));
    await c.store.written({ attempt: 5 });
    for (const [i, key] of keys.entries()) assert.deepEqual(await c.other.run(key), before[i]);
    await c.other.absent({ ...KEY, job: 'another' });
  }),

  test('modifying a returned value changes no row (L3)', async (c) => {
    const period = dayFrom('2026-11-19T16:00:00Z');
    await c.store.inserted({ ...running(), ...period, event: LOST });
    const before = JSON.stringify(await c.store.run());
    const peek = await c.store.peek(KEY);
    const [stored] = await c.store.find({ limit: 1 });
    const [event] = await c.store.events();
    const found = await c.store.found();
    const records = [found, found.run, peek, ...peek.runs, stored, event, period];
    for (const record of records)
      for (const value of Object.values<unknown>({ ...record })) if (value instanceof Date) value.setTime(0);
    assert.equal(JSON.stringify(await c.store.run()), before);
    assert.notEqual((await c.store.events())[0]?.at.getTime(), 0);
  }),
]);

/** All fields but key, period and creation, each with a distinct value. */
function everyField({ createdAt, updatedAt }: Pick<Run, 'createdAt' | 'updatedAt'>) {
  const minutesOn = (minutes: number): Date => new Date(createdAt.getTime() + minutes * MINUTE_MS);
  return {
    state: 'failed',
    generation: 3,
    attempt: 4,
    nextAttemptAt: minutesOn(1),
    claimedBy: 'host/2/second',
    lockId: 'elsewhere/contract',
    fencingToken: 1_763_568_000_000_000,
    leaseUntil: minutesOn(2),
    firstStartedAt: minutesOn(-4),
    startedAt: minutesOn(-3),
    finishedAt: minutesOn(-2),
    reason: 'exhausted',
    result: '{"total":1}',
    error: 'Error: no',
    updatedAt,
  } as const;
}
