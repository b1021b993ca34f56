import assert from 'node:assert/strict';
import type { Claim } from '#cronlatch/ledger/run';
import { cases, needing } from './fixture';
import { NOT_OVERDUE, oneOfEach } from './one-of-each';
import { CLAIM, KEY, LOST, PENDING, keyOf, running } from './runs';
import type { TestedStore } from './tested-store';

/** A run is completed once, by the claim that runs it. */
export const completing = cases((test) => [
  test('a run is completed by its claim, and only once (L3)', async (c) => {
    await c.store.inserted(running());
    await c.other.completed('"first"');
    const completed = await c.store.run();
    assert.equal(completed.state, 'completed');
    for (const at of [c.store, c.other]) assert.equal(await at.complete(CLAIM, '"second"'), false);
    assert.deepEqual(await c.store.run(), completed);
  }),

  test('a completion writes the result and the end, clears the earlier error, and keeps the other fields (L3)', async (c) => {
    await c.store.inserted(running());
    const failed = { error: 'Error: no', reason: 'made-up' };
    const before = await c.store.written(({ now }) => ({ ...failed, nextAttemptAt: now }));
    const { assertIsNow } = await c.store.readClockAround(() => c.store.completed('{"total":1}'));
    const run = await c.other.run();
    const { finishedAt, updatedAt } = run;
    assertIsNow({ finishedAt, updatedAt });
    const cleared = { nextAttemptAt: undefined, error: undefined };
    const completed = { state: 'completed', result: '{"total":1}', finishedAt, updatedAt };
    assert.deepEqual(run, { ...before, ...completed, ...cleared });
    assert.deepEqual(await c.other.events(), []);
  }),

  test('a completion without a result leaves the run without a result (L3)', async (c) => {
    await c.store.inserted(running());
    await c.store.written({ result: '"of an earlier generation"' });
    await c.store.completed();
    await c.store.has({ result: undefined });
  }),

  test('a run can be completed after its lease has expired (L-24)', async (c) => {
    await c.store.inserted(running());
    await c.elapse('2d');
    await c.store.completed();
  }),

  test('a claim of another attempt completes nothing (L3)', async (c) => {
    await c.store.inserted(running());
    await c.store.written({ attempt: 2 });
    await completesNothing(c.store, CLAIM);
    await completesNothing(c.store, { ...CLAIM, attempt: 3 });
  }),

  test('a claim of another generation completes nothing (L-53)', async (c) => {
    await c.store.inserted(running());
    await c.store.written({ generation: 1 });
    await completesNothing(c.store, CLAIM);
    await completesNothing(c.store, { ...CLAIM, generation: 2 });
  }),

  test('a claim of another process completes nothing, however similar its name is (L3)', async (c) => {
    await c.store.inserted(running('host/1/é'));
    const alike = ['host/1/É', 'HOST/1/é', 'host/1/e', 'host/1/e\u0301', 'host/1/é/', '', '%'];
    for (const claimedBy of alike) await completesNothing(c.store, { ...CLAIM, claimedBy });
    assert.equal(await c.store.complete({ ...CLAIM, claimedBy: 'host/1/é' }), true);
  }),

  test('a claim of another job, scope or period completes nothing (L3)', async (c) => {
    await c.store.inserted(running());
    for (const another of [{ job: 'another' }, { scope: 'another' }, { periodKey: 'another' }])
      await completesNothing(c.store, { ...CLAIM, ...another });
  }),

  test('a run that is not running is not completed by any claim (L3)', async (c) => {
    await oneOfEach(c.store);
    for (const periodKey of ['pending', 'failed', ...NOT_OVERDUE]) {
      const key = keyOf(periodKey);
      await c.store.written({ attempt: 1, claimedBy: CLAIM.claimedBy }, { key });
      await completesNothing(c.store, { ...CLAIM, ...key }, key);
    }
    assert.equal(await c.store.complete({ ...CLAIM, periodKey: 'running' }, '"done"'), true);
  }),

  test('a completion leaves all other runs unchanged (L3)', async (c) => {
    const another = keyOf('another');
    await c.store.inserted(running(), { ...running(), ...another });
    const before = await c.store.run(another);
    await c.store.completed();
    assert.deepEqual(await c.store.run(another), before);
  }),
]);

/** @param key of the run that the claim could change */
async function completesNothing(store: TestedStore, claim: Claim, key = KEY): Promise<void> {
  const before = await store.run(key);
  const message = `a claim that does not match the ${before.state} run should not complete it`;
  assert.equal(await store.complete(claim, '"done"'), false, message);
  assert.deepEqual(await store.run(key), before);
}

/** An operator deletes a run while it runs. */
export const deletedRuns = needing(['deleteRun'], (test) => [
  test('the holder of a deleted run does not complete, change or recreate it (L-14)', async (c) => {
    await c.store.inserted(running());
    await c.deleteRun(KEY);
    assert.equal(await c.store.complete(CLAIM, '"done"'), false);
    await c.other.absent();
  }),

  test('a deleted key can be inserted again, without its old events (L-14)', async (c) => {
    await c.store.inserted({ ...PENDING, event: LOST });
    await c.deleteRun(KEY);
    await c.other.inserted(PENDING);
    assert.deepEqual(await c.store.events(), []);
  }),
]);
