import assert from 'node:assert/strict';
import { needing } from './fixture';
import { CLAIM, running } from './runs';

/** A plain read may be answered by a replica. So it decides about no claim and no completion. */
export const staleReads = needing(['staleReads'], (test) => [
  test('with stale reads, a claimed run is not inserted again (L1, F-36)', async (c) => {
    await c.staleReads();
    await c.store.inserted(running());
    for (const at of [c.store, c.other]) await at.refused(running('host/2/second'));
    await c.other.has({ claimedBy: CLAIM.claimedBy });
  }),

  test('with stale reads, a change decides by the row as it is (L2, F-36)', async (c) => {
    await c.store.inserted(running());
    await c.staleReads();
    await c.store.written({ attempt: 2 });
    assert.equal((await c.other.written(({ run }) => ({ attempt: run.attempt + 1 }))).attempt, 3);
  }),

  test('with stale reads, a run is completed, and only once (L3, F-36)', async (c) => {
    await c.staleReads();
    await c.store.inserted(running());
    await c.store.completed('"first"');
    assert.equal(await c.other.complete(CLAIM, '"second"'), false);
    await c.store.has({ result: '"first"' });
  }),
]);
