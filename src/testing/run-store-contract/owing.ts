import assert from 'node:assert/strict';
import type { OwedRun } from '../../ledger/run-store';
import { cases } from './contract-cases';
import {
  LIMIT,
  MINUTE_MS,
  PENDING,
  SKIPPED,
  inserted,
  insertedAs,
  keyOf,
  oneOfEach,
  periodKeysOf,
  running,
} from './runs';

/** What waits for somebody, of any job: asked for every minute. */
export const owing = cases({
  async 'L4 where there are no runs, nothing is owed'({ store }) {
    assert.deepEqual(await store.owed(LIMIT), []);
  },

  async 'L4 what is due and what runs is owed, and nothing else'({ store, other }) {
    await oneOfEach(store);
    assert.deepEqual(periodKeysOf(await other.owed(LIMIT)), ['failed', 'pending', 'running']);
  },

  async 'L4 runs of every job and scope are owed, each with its state'({ store }) {
    const keys = [keyOf('a'), keyOf('a', { job: 'another' }), keyOf('a', { scope: 'eu' })];
    const owed: OwedRun[] = keys.map((key, i) => ({ ...key, state: i === 0 ? 'running' : 'pending' }));
    for (const { state, ...key } of owed)
      await inserted(store, { ...(state === 'running' ? running() : PENDING), ...key });
    await inserted(store, { ...SKIPPED, ...keyOf('over') });
    const inOrder = (runs: readonly OwedRun[]) =>
      runs.map(({ job, scope, periodKey, state }) => [job, scope, periodKey, state].join('/')).sort();
    assert.deepEqual(inOrder(await store.owed(LIMIT)), inOrder(owed));
  },

  async 'L4 what has been due, or has run, for the longest time comes first'({ store }) {
    const minutesAgo = { second: 40, fourth: 20, first: 50, third: 30 };
    for (const [periodKey, minutes] of Object.entries(minutesAgo)) {
      const runs = periodKey === 'second' || periodKey === 'third';
      const run = runs ? running() : PENDING;
      await insertedAs(store, { ...run, periodKey }, ({ now }) => {
        const since = new Date(now.getTime() - minutes * MINUTE_MS);
        return runs ? { startedAt: since } : { nextAttemptAt: since };
      });
    }
    const owed = (await store.owed(LIMIT)).map(({ periodKey }) => periodKey);
    assert.deepEqual(owed, ['first', 'second', 'third', 'fourth']);
  },
});
