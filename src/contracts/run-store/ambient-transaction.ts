import assert from 'node:assert/strict';
import { needing } from './fixture';
import {
  CLAIM,
  DAY_MS,
  JOB,
  KEY,
  LIMIT,
  LOST,
  PENDING,
  SKIPPED,
  foundBy,
  inserted,
  keyOf,
  overdueOf,
  peeked,
  refused,
  runOf,
  running,
  written,
} from './runs';

/** The runs do not depend on the outcome of the transaction that the caller is in. */
export const ambientTransactions = needing(['ambientTransaction'], {
  async 'an insert inside a transaction that is rolled back stays, with its event (L-11)'(fixture) {
    const { store, other, ambientTransaction } = fixture;
    await ambientTransaction('rollback', () => inserted(store, { ...running(), event: LOST }));
    await refused(other, PENDING);
    assert.equal((await other.events(KEY, LIMIT)).length, 1);
  },

  async 'a change inside a transaction that is rolled back stays, with its events (L-11)'(fixture) {
    const { store, other, ambientTransaction } = fixture;
    await inserted(store, PENDING);
    await ambientTransaction('rollback', async () => {
      await written(store, () => ({ attempt: 2 }), { events: [LOST] });
    });
    assert.equal((await runOf(other)).attempt, 2);
    assert.equal((await other.events(KEY, LIMIT)).length, 1);
  },

  async 'a completion inside a transaction that is rolled back stays (L-11)'(fixture) {
    const { store, other, ambientTransaction } = fixture;
    await inserted(store, running());
    await ambientTransaction('rollback', async () =>
      assert.equal(await store.complete(CLAIM, '"done"', LIMIT), true),
    );
    assert.equal((await runOf(other)).state, 'completed');
  },

  async 'a purge inside a transaction that is rolled back still deletes (L-11)'(fixture) {
    const { store, other, elapse, ambientTransaction } = fixture;
    await inserted(store, { ...SKIPPED, periodKey: 'old' });
    await elapse('2d');
    await inserted(store, { ...SKIPPED, periodKey: 'newest' });
    await ambientTransaction('rollback', async () => {
      assert.equal((await store.purge({ olderThanMs: DAY_MS, limit: 10 }, LIMIT)).deleted, 1);
    });
    assert.deepEqual(await foundBy(other), ['newest']);
  },

  async 'other instances see a write inside a transaction at once (L-11)'(fixture) {
    const { store, other, ambientTransaction } = fixture;
    await ambientTransaction('commit', async () => {
      await inserted(store, running());
      await refused(other, PENDING);
      assert.equal(await store.complete(CLAIM, undefined, LIMIT), true);
      assert.equal((await runOf(other)).state, 'completed');
    });
  },

  async 'a caller inside a transaction sees what was written after its transaction began (L-11)'(fixture) {
    const { store, other, ambientTransaction } = fixture;
    await inserted(other, running());
    await ambientTransaction('rollback', async () => {
      assert.equal((await runOf(store)).state, 'running');
      for (const scope of ['', 'eu']) await inserted(other, { ...PENDING, ...keyOf('another', { scope }) });
      assert.equal(await other.complete(CLAIM, undefined, LIMIT), true);
      assert.equal((await runOf(store)).state, 'completed');
      assert.deepEqual((await peeked(store, KEY)).runs.map(({ state }) => state).sort(), [
        'completed',
        'pending',
      ]);
      assert.equal((await foundBy(store)).length, 3);
      assert.deepEqual(await overdueOf(store), [`${JOB}/`, `${JOB}/eu`]);
    });
  },
});
