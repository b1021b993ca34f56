import assert from 'node:assert/strict';
import { needing } from './fixture';
import { CLAIM, KEY, LIMIT, inserted, refused, runOf, running, written } from './runs';

/** A plain read may be answered by a replica. So it decides about no claim and no completion. */
export const staleReads = needing(['staleReads'], {
  async 'with stale reads, a claimed run is not inserted again (L1, F-36)'({ store, other, staleReads }) {
    await staleReads();
    await inserted(store, running());
    for (const at of [store, other]) await refused(at, running('host/2/second'));
    assert.equal((await runOf(other)).claimedBy, CLAIM.claimedBy);
  },

  async 'with stale reads, a change decides by the row as it is (L2, F-36)'({ store, other, staleReads }) {
    await inserted(store, running());
    await staleReads();
    await written(store, () => ({ attempt: 2 }));
    assert.equal((await written(other, ({ run }) => ({ attempt: run.attempt + 1 }))).attempt, 3);
  },

  async 'with stale reads, a run is completed, and only once (L3, F-36)'({ store, other, staleReads }) {
    await staleReads();
    await inserted(store, running());
    assert.equal(await store.complete(CLAIM, '"first"', LIMIT), true);
    assert.equal(await other.complete(CLAIM, '"second"', LIMIT), false);
    assert.equal((await runOf(store, KEY)).result, '"first"');
  },
});
