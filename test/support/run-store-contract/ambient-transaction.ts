import assert from 'node:assert/strict';
import { needing } from './fixture';
import { DAY_MS, JOB, KEY, LOST, PENDING, pending, running, skipped } from './runs';

/** The runs do not depend on the outcome of the transaction that the caller is in. */
export const ambientTransactions = needing(['ambientTransaction'], (test) => [
  test('an insert inside a transaction that is rolled back stays, with its event (L-11)', async (c) => {
    await c.ambientTransaction('rollback', () => c.store.inserted({ ...running(), event: LOST }));
    await c.other.refused(PENDING);
    assert.deepEqual(await c.other.kindsOfEvents(), ['lost']);
  }),

  test('a change inside a transaction that is rolled back stays, with its events (L-11)', async (c) => {
    await c.store.inserted(PENDING);
    await c.ambientTransaction('rollback', async () => {
      await c.store.written({ attempt: 2 }, { events: [LOST] });
    });
    await c.other.has({ attempt: 2 });
    assert.deepEqual(await c.other.kindsOfEvents(), ['lost']);
  }),

  test('a completion inside a transaction that is rolled back stays (L-11)', async (c) => {
    await c.store.inserted(running());
    await c.ambientTransaction('rollback', () => c.store.completed('"done"'));
    await c.other.has({ state: 'completed' });
  }),

  test('a purge inside a transaction that is rolled back still deletes (L-11)', async (c) => {
    await c.store.inserted(skipped('old'));
    await c.elapse('2d');
    await c.store.inserted(skipped('newest'));
    await c.ambientTransaction('rollback', async () => {
      assert.equal((await c.store.purge({ olderThanMs: DAY_MS, limit: 10 })).deleted, 1);
    });
    assert.deepEqual(await c.other.periodKeys(), ['newest']);
  }),

  test('other instances see a write inside a transaction at once (L-11)', async (c) => {
    await c.ambientTransaction('commit', async () => {
      await c.store.inserted(running());
      await c.other.refused(PENDING);
      await c.store.completed();
      await c.other.has({ state: 'completed' });
    });
  }),

  test('a caller inside a transaction sees what was written after its transaction began (L-11)', async (c) => {
    await c.other.inserted(running());
    await c.ambientTransaction('rollback', async () => {
      await c.store.has({ state: 'running' });
      await c.other.inserted(pending('another'), pending('another', { scope: 'eu' }));
      await c.other.completed();
      await c.store.has({ state: 'completed' });
      const { runs } = await c.store.peek(KEY);
      assert.deepEqual(runs.map(({ state }) => state).sort(), ['completed', 'pending']);
      assert.equal((await c.store.periodKeys()).length, 3);
      assert.deepEqual(await c.store.overdue(), [`${JOB}/`, `${JOB}/eu`]);
    });
  }),
]);
