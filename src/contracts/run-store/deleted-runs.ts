import assert from 'node:assert/strict';
import { needing } from './contract-cases';
import { CLAIM, KEY, LIMIT, LOST, PENDING, absent, inserted, running } from './runs';

/** What an operator deletes under a run's feet is gone. */
export const deletedRuns = needing(['deleteRun'], {
  async 'L-14 a run that was deleted is not completed, changed or made again by its holder'({
    store,
    other,
    deleteRun,
  }) {
    await inserted(store, running());
    await deleteRun(KEY);
    assert.equal(await store.complete(CLAIM, '"done"', LIMIT), false);
    await absent(other);
  },

  async 'L-14 a key that was deleted can be inserted again, without its old events'({
    store,
    other,
    deleteRun,
  }) {
    await inserted(store, { ...PENDING, event: LOST });
    await deleteRun(KEY);
    await inserted(other, PENDING);
    assert.deepEqual(await store.events(KEY, LIMIT), []);
  },
});
