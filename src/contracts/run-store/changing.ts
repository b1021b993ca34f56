import assert from 'node:assert/strict';
import type { Run } from '../../ledger/run';
import { assertAge, readClockAround } from './assertions';
import { cases } from './fixture';
import {
  DAY_MS,
  KEY,
  LIMIT,
  LOST,
  MINUTE_MS,
  PENDING,
  absent,
  dayFrom,
  found,
  foundBy,
  inserted,
  keyOf,
  runOf,
  running,
  written,
} from './runs';

/** A row is read, decided about and written in one step. */
export const changing = cases({
  async 'without a row, the decision gets none, and nothing is written (L3)'({ store, other }) {
    await inserted(other, { ...running(), periodKey: 'another' });
    const write = { ...(await runOf(other, { ...KEY, periodKey: 'another' })), ...KEY };
    const seen = await store.change(KEY, (row) => ({ value: { row }, write, events: [LOST] }), LIMIT);
    assert.deepEqual(seen, { row: undefined });
    assert.deepEqual(await foundBy(other), ['another']);
    assert.deepEqual(await other.events(KEY, LIMIT), []);
  },

  async 'a decision gets the current row and the store’s now, and its value is returned (L3)'(fixture) {
    const { store, other, elapse } = fixture;
    await inserted(other, running());
    await written(other, () => ({ attempt: 2, reason: 'seen' }));
    await elapse('1d');
    const answer = { some: 'value' };
    const { value, assertIsNow } = await readClockAround(store, async () => {
      const seen = await found(store);
      assert.equal(await store.change(KEY, () => ({ value: answer }), LIMIT), answer);
      return seen;
    });
    assertIsNow(value.now, 'now');
    assert.equal(value.run.attempt, 2);
    assert.deepEqual(value.run, await runOf(other));
  },

  async 'a decision can write every mutable field, and the other instance sees it (L3)'({ store, other }) {
    await inserted(store, PENDING);
    const { value: write, assertIsNow } = await readClockAround(store, () =>
      written(store, ({ run }) => everyField(run)),
    );
    const run = await runOf(other);
    assertIsNow(run.updatedAt, 'updatedAt');
    assert.deepEqual(run, { ...write, updatedAt: run.updatedAt });
  },

  async 'a decision can clear every optional field (L3)'({ store, other }) {
    await inserted(store, PENDING);
    await written(store, ({ run }) => everyField(run));
    await written(store, () => EMPTY);
    const { createdAt, updatedAt, ...run } = await runOf(other);
    const { generation, attempt } = everyField({ createdAt, updatedAt });
    assert.deepEqual(run, { ...PENDING, ...EMPTY, state: 'interrupted', generation, attempt });
  },

  async 'key, period and creation stay, regardless of what a decision writes (L1)'({ store, elapse }) {
    const period = dayFrom(new Date('2026-11-19T16:00:00Z'));
    await inserted(store, { ...PENDING, ...period });
    await elapse('1d');
    const { createdAt, ...before } = await runOf(store);
    await written(store, ({ now }) => ({
      ...{ job: 'another', scope: 'another', periodKey: 'another', createdAt: now, updatedAt: new Date(0) },
      ...{ ...dayFrom(now), timeZone: 'UTC' },
    }));
    const after = await runOf(store);
    assert.deepEqual(after, { ...before, createdAt, updatedAt: after.updatedAt });
    await assertAge(store, after.createdAt, DAY_MS);
    await assertAge(store, after.updatedAt, 0);
    assert.deepEqual(await foundBy(store), [KEY.periodKey]);
  },

  async 'a decision that writes nothing leaves the row unchanged (L3)'({ store, elapse }) {
    await inserted(store, PENDING);
    await elapse('10m');
    const before = await runOf(store);
    await store.change(KEY, () => ({ value: 1, events: [] }), LIMIT);
    const after = await runOf(store);
    assert.deepEqual(after, before);
    await assertAge(store, after.updatedAt, 10 * MINUTE_MS);
  },

  async 'the error of a decision is rethrown unchanged, and nothing is written (L3)'({ store, other }) {
    await inserted(store, PENDING);
    const before = await runOf(store);
    const error = new Error('cannot decide');
    const decide = (): never => {
      throw error;
    };
    await assert.rejects(store.change(KEY, decide, LIMIT), (thrown) => thrown === error);
    assert.deepEqual(await runOf(other), before);
    await written(other, () => ({ attempt: 1 }));
    assert.equal((await runOf(store)).attempt, 1);
  },

  async 'a change of one run leaves all others unchanged (L3)'({ store, other }) {
    await inserted(store, PENDING, { ...PENDING, periodKey: 'another' }, { ...PENDING, scope: 'another' });
    const keys = [keyOf('another'), keyOf(KEY.periodKey, { scope: 'another' })];
    const before = [];
    for (const key of keys) before.push(await runOf(store, key));
    await written(store, () => ({ attempt: 5 }));
    for (const [i, key] of keys.entries()) assert.deepEqual(await runOf(other, key), before[i]);
    await absent(other, { ...KEY, job: 'another' });
  },

  async 'modifying a returned value changes no row (L3)'({ store }) {
    const from = new Date('2026-11-19T16:00:00Z');
    await inserted(store, { ...running(), ...dayFrom(from), event: LOST });
    const before = await runOf(store);
    const { runs, now, firstPeriodStart } = await store.peek({ ...KEY, since: undefined }, LIMIT);
    const [stored] = await store.find({ order: 'oldest-first', limit: 1 }, LIMIT);
    const [event] = await store.events(KEY, LIMIT);
    const { run, now: nowOfChange } = await found(store);
    const records = [run, stored, event, ...runs, { now, nowOfChange, firstPeriodStart, from }];
    const instants = records.flatMap((record) =>
      Object.values(record ?? {}).filter((value) => value instanceof Date),
    );
    for (const instant of instants) instant.setTime(0);
    const { periodStart, createdAt, startedAt, leaseUntil } = await runOf(store);
    assert.deepEqual(
      { periodStart, createdAt, startedAt, leaseUntil },
      {
        ...{ periodStart: new Date('2026-11-19T16:00:00Z'), createdAt: before.createdAt },
        ...{ startedAt: before.startedAt, leaseUntil: before.leaseUntil },
      },
    );
    assert.notEqual((await store.events(KEY, LIMIT))[0]?.at.getTime(), 0);
  },
});

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

const EMPTY = {
  state: 'interrupted',
  ...{ nextAttemptAt: undefined, claimedBy: undefined, lockId: undefined, fencingToken: undefined },
  ...{ leaseUntil: undefined, firstStartedAt: undefined, startedAt: undefined, finishedAt: undefined },
  ...{ reason: undefined, result: undefined, error: undefined },
} as const;
