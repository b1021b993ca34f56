import assert from 'node:assert/strict';
import { test } from 'node:test';
import { currentRun, LockStorageError } from 'cronlatch';
import { closeDay, CLOSE_DAY, heldTask } from '../support/jobs/close-day';
import { faultyInstance } from '../support/faults/run-store';
import { ledgerPlace, memoryStores } from '../support/stores/ledger-place';
import { reasonOf } from '../support/benches/guard';

const away = (): Promise<never> =>
  Promise.reject(new LockStorageError('its connections are closed', { outcome: 'nothing-ran' }));

const ENDS: readonly [string, () => unknown][] = [
  ['resolves', () => 'late'],
  ['is given back', () => currentRun().giveBack()],
];

for (const [how, finish] of ENDS) {
  void test(`a run that ${how} after its guard has closed sends no further statements to a closed store`, async () => {
    const { place, close } = ledgerPlace(memoryStores('2026-11-20T03:00:00Z'));
    try {
      const { guard, faulty } = faultyInstance(place);
      const held = heldTask(finish);
      const result = reasonOf(guard.run(closeDay(), held.task));
      await held.started;
      const closed = await guard.close({ timeout: 0 });
      assert.deepEqual(closed, { settled: [], abandoned: ['close-day'] });
      for (const statement of ['complete', 'change'] as const)
        faulty.fail(statement, ...Array<typeof away>(1000).fill(away));
      faulty.calls.splice(0);
      held.end();
      assert.ok((await result) instanceof LockStorageError);
      assert.equal(faulty.calls.length, 1);
      assert.equal((await guard.ledger.list(CLOSE_DAY))[0]?.state, 'running');
    } finally {
      await close();
    }
  });
}
