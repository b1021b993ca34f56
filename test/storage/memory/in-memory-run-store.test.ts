import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SettableClock } from 'cronlatch/testing';
import type { NewRun } from '#cronlatch/ledger/run-store';
import { InMemoryRuns } from '#cronlatch/storage/memory/in-memory-runs';
import { InMemoryRunStore } from '#cronlatch/storage/memory/in-memory-run-store';

const KEY = { job: 'settlement', scope: '', periodKey: '2026-11-20' };
const NO_PERIOD = { periodStart: undefined, periodEnd: undefined, timeZone: undefined };
const PENDING: NewRun = { ...KEY, ...NO_PERIOD, state: 'pending' };

void test('changing the host clock has no effect', async () => {
  const clock = new SettableClock('2026-11-20T03:00:00Z');
  const store = new InMemoryRunStore({ clock });
  for (const jumpMs of [3_600_000, -86_400_000]) {
    clock.jump(jumpMs);
    const { now } = await store.peek({ ...KEY, since: undefined });
    assert.deepEqual(now, new Date('2026-11-20T03:00:00Z'));
  }
  clock.advance('10m');
  const { now } = await store.peek({ ...KEY, since: undefined });
  assert.deepEqual(now, new Date('2026-11-20T03:10:00Z'));
});

void test('stores share their runs only if they are created with the same runs', async () => {
  const runs = new InMemoryRuns();
  const [store, other, elsewhere] = [
    new InMemoryRunStore({ runs }),
    new InMemoryRunStore({ runs }),
    new InMemoryRunStore(),
  ];
  assert.equal(await store.insert(PENDING), true);
  assert.equal(await other.insert(PENDING), false);
  assert.equal(await elsewhere.insert(PENDING), true);
});

void test('without a clock the time is the host’s', async () => {
  const before = Date.now();
  const { now } = await new InMemoryRunStore().peek({ ...KEY, since: undefined });
  assert.ok(Math.abs(now.getTime() - before) < 10_000);
});

void test('an operator can delete a run, once', async () => {
  const runs = new InMemoryRuns();
  await new InMemoryRunStore({ runs }).insert(PENDING);
  assert.deepEqual([runs.delete(KEY), runs.delete(KEY)], [true, false]);
});

void test('at most 1,000 scopes are returned as overdue at a time, the longest waiting first', async () => {
  const clock = new SettableClock();
  const store = new InMemoryRunStore({ clock });
  for (let i = 0; i < 1001; i += 1) {
    await store.insert({ ...PENDING, scope: `${i}` });
    clock.advance('1s');
  }
  const overdue = await store.overdue([PENDING.job]);
  assert.equal(overdue.length, 1000);
  assert.deepEqual([overdue.at(0)?.scope, overdue.at(-1)?.scope], ['0', '999']);
});
