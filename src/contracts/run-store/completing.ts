import assert from 'node:assert/strict';
import type { Claim } from '../../ledger/run';
import type { RunStore } from '../../ledger/run-store';
import { readClockAround } from './assertions';
import { cases, needing } from './fixture';
import {
  CLAIM,
  KEY,
  LIMIT,
  LOST,
  NOT_OVERDUE,
  PENDING,
  absent,
  inserted,
  oneOfEach,
  runOf,
  running,
  written,
} from './runs';

/** A run is completed once, by the claim that runs it. */
export const completing = cases({
  async 'a run is completed by its claim, and only once (L3)'({ store, other }) {
    await inserted(store, running());
    assert.equal(await other.complete(CLAIM, '"first"', LIMIT), true);
    const completed = await runOf(store);
    assert.equal(completed.state, 'completed');
    for (const at of [store, other]) assert.equal(await at.complete(CLAIM, '"second"', LIMIT), false);
    assert.deepEqual(await runOf(store), completed);
  },

  async 'a completion writes the result and the end, clears the earlier failure, and keeps the other fields (L3)'({
    store,
    other,
  }) {
    await inserted(store, running());
    const failed = { error: 'Error: no', reason: 'before' };
    const before = await written(store, ({ now }) => ({ ...failed, nextAttemptAt: now }));
    const { assertIsNow } = await readClockAround(store, () => completed(store, '{"total":1}'));
    const run = await runOf(other);
    const { finishedAt, updatedAt } = run;
    assertIsNow(finishedAt, 'finishedAt');
    assertIsNow(updatedAt, 'updatedAt');
    assert.deepEqual(run, {
      ...before,
      ...{ state: 'completed', result: '{"total":1}', finishedAt, updatedAt },
      ...{ nextAttemptAt: undefined, error: undefined, reason: undefined },
    });
    assert.deepEqual(await other.events(KEY, LIMIT), []);
  },

  async 'a completion without a result leaves the run without a result (L3)'({ store }) {
    await inserted(store, running());
    await written(store, () => ({ result: '"of an earlier generation"' }));
    await completed(store, undefined);
    assert.equal((await runOf(store)).result, undefined);
  },

  async 'a run can be completed after its lease has expired (L-24)'({ store, elapse }) {
    await inserted(store, running());
    await elapse('2d');
    await completed(store, undefined);
  },

  async 'a claim of another attempt completes nothing (L3)'({ store }) {
    await inserted(store, running());
    await written(store, () => ({ attempt: 2 }));
    await completesNothing(store, CLAIM);
    await completesNothing(store, { ...CLAIM, attempt: 3 });
  },

  async 'a claim of another generation completes nothing (L-53)'({ store }) {
    await inserted(store, running());
    await written(store, () => ({ generation: 1 }));
    await completesNothing(store, CLAIM);
    await completesNothing(store, { ...CLAIM, generation: 2 });
  },

  async 'a claim of another process completes nothing, however similar its name is (L3)'({ store }) {
    await inserted(store, running('host/1/é'));
    const alike = ['host/1/É', 'HOST/1/é', 'host/1/e', 'host/1/e\u0301', 'host/1/é/', '', '%'];
    for (const claimedBy of alike) await completesNothing(store, { ...CLAIM, claimedBy });
    assert.equal(await store.complete({ ...CLAIM, claimedBy: 'host/1/é' }, undefined, LIMIT), true);
  },

  async 'a claim of another job, scope or period completes nothing (L3)'({ store }) {
    await inserted(store, running());
    for (const another of [{ job: 'another' }, { scope: 'another' }, { periodKey: 'another' }])
      await completesNothing(store, { ...CLAIM, ...another });
  },

  async 'a run that is not running is not completed by any claim (L3)'({ store }) {
    await oneOfEach(store);
    const matching = { attempt: 1, claimedBy: CLAIM.claimedBy };
    for (const periodKey of ['pending', 'failed', ...NOT_OVERDUE]) {
      const key = { ...KEY, periodKey };
      await written(store, () => matching, { key });
      const before = await runOf(store, key);
      assert.equal(await store.complete({ ...CLAIM, ...key }, '"done"', LIMIT), false, periodKey);
      assert.deepEqual(await runOf(store, key), before);
    }
    assert.equal(await store.complete({ ...CLAIM, periodKey: 'running' }, '"done"', LIMIT), true);
  },

  async 'a completion leaves all other runs unchanged (L3)'({ store }) {
    const another = { ...KEY, periodKey: 'another' };
    await inserted(store, running(), { ...running(), ...another });
    const before = await runOf(store, another);
    await completed(store, undefined);
    assert.deepEqual(await runOf(store, another), before);
  },
});

async function completed(store: RunStore, result: string | undefined): Promise<void> {
  assert.equal(await store.complete(CLAIM, result, LIMIT), true);
}

async function completesNothing(store: RunStore, claim: Claim): Promise<void> {
  const before = await runOf(store);
  assert.equal(await store.complete(claim, '"done"', LIMIT), false);
  assert.deepEqual(await runOf(store), before);
}

/** An operator deletes a run while it runs. */
export const deletedRuns = needing(['deleteRun'], {
  async 'the holder of a deleted run does not complete, change or recreate it (L-14)'(fixture) {
    const { store, other, deleteRun } = fixture;
    await inserted(store, running());
    await deleteRun(KEY);
    assert.equal(await store.complete(CLAIM, '"done"', LIMIT), false);
    await absent(other);
  },

  async 'a deleted key can be inserted again, without its old events (L-14)'({ store, other, deleteRun }) {
    await inserted(store, { ...PENDING, event: LOST });
    await deleteRun(KEY);
    await inserted(other, PENDING);
    assert.deepEqual(await store.events(KEY, LIMIT), []);
  },
});
