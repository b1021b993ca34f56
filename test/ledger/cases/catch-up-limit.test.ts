import assert from 'node:assert/strict';
import { LockStorageError } from 'cronlatch';
import { faultyInstance } from '../../support/faults/run-store';
import { closeDay, diary, heldTask, rowsOf } from '../../support/jobs/close-day';
import { testLedger } from '../../support/stores/ledger-tests';

const MISSED = ['2026-11-21', '2026-11-22', '2026-11-23'].map((day) => `${day} skipped(missed)`);
const DONE = '2026-11-20 completed';

testLedger('the limit also holds if the lease is too short for all days (L-47)', async (place) => {
  const instance = place.instance();
  const { guard } = instance;
  const { task, periods } = diary(() => place.elapse('40s'));
  const job = closeDay({ catchUp: 'all', catchUpLimit: 2 });
  guard.wrap(job, task);
  await guard.run(job, () => undefined);
  await place.elapse('6d');
  assert.deepEqual(await guard.runOverdue(), { started: 1, overdue: 1 });
  assert.deepEqual(await guard.runOverdue(), { started: 1, overdue: 0 });
  assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
  assert.deepEqual(periods(), ['2026-11-24', '2026-11-25']);
  assert.deepEqual(await rowsOf(instance), [
    ...[DONE, ...MISSED],
    ...['2026-11-24 completed', '2026-11-25 completed'],
  ]);
});

testLedger(`'latest' runs no older day if the process crashes during catch-up (L-46)`, async (place) => {
  const gone = place.instance();
  const job = closeDay({ catchUp: 'latest' });
  const held = heldTask();
  gone.guard.wrap(job, held.task);
  await gone.guard.run(job, () => undefined);
  await place.elapse('5d');
  void gone.guard.runOverdue();
  await held.started;
  await place.elapse('2m');
  const other = place.instance();
  const { task, periods } = diary();
  other.guard.wrap(job, task);
  assert.deepEqual(await other.guard.runOverdue(), { started: 1, overdue: 0 });
  assert.deepEqual(periods(), ['2026-11-24']);
  assert.deepEqual(await rowsOf(other), [DONE, ...MISSED, '2026-11-24 completed']);
  held.end();
});

testLedger(
  'missed days that cannot be recorded are recorded later, before any of them runs (L-46)',
  async (place) => {
    const instance = faultyInstance(place);
    const { guard, faulty } = instance;
    const { task, periods } = diary();
    const job = closeDay({ catchUp: 'latest' });
    guard.wrap(job, task);
    await guard.run(job, () => undefined);
    await place.elapse('5d');
    faulty.fail('insert', () => Promise.reject(new LockStorageError('away', { outcome: 'nothing-ran' })));
    assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 1 });
    assert.deepEqual(await rowsOf(instance), [DONE]);
    const [warning, ...others] = instance.of('guard:warning');
    assert.match(warning?.message ?? '', /Could not record that .* missed 2026-11-21\. cronlatch retries/);
    assert.deepEqual(others, []);
    assert.deepEqual(await guard.runOverdue(), { started: 1, overdue: 0 });
    assert.deepEqual(periods(), ['2026-11-24']);
    assert.deepEqual(await rowsOf(instance), [DONE, ...MISSED, '2026-11-24 completed']);
  },
);
