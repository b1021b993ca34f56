import assert from 'node:assert/strict';
import { currentLock } from 'cronlatch';
import { closeDay, diary, NO_BANK, rowsOf } from '../../support/jobs/close-day';
import { testLedger } from '../../support/stores/ledger-tests';

testLedger('a retry that calls its own job, after midnight, is not a tick of today', async (place) => {
  const instance = place.instance();
  const { guard } = instance;
  let isInside = false;
  let fails = true;
  const { task, periods } = diary(async () => {
    if (isInside) return;
    isInside = true;
    // As an override does that calls the method of its base class.
    await job();
    isInside = false;
    if (fails) throw NO_BANK;
  });
  const job = guard.wrap(closeDay(), task);
  await job();
  fails = false;
  await place.elapse('21h');
  assert.deepEqual(await guard.runOverdue(), { started: 1, overdue: 0 });
  await place.elapse('1m');
  assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
  assert.deepEqual(new Set(periods()), new Set(['2026-11-20']));
  assert.deepEqual(await rowsOf(instance), ['2026-11-20 completed']);
  assert.deepEqual(instance.of('run:skipped'), []);
});

testLedger(
  'a job that calls itself after its lease has expired does not run unguarded (P2, F-93)',
  async (place) => {
    const instance = place.instance();
    const { guard } = instance;
    const ran: string[] = [];
    let isInside = false;
    const job = guard.wrap(closeDay(), async () => {
      ran.push(isInside ? 'inside' : 'outside');
      if (isInside) return;
      isInside = true;
      await place.elapse('11m');
      assert.equal(currentLock().signal.aborted, true);
      await job();
    });
    await job().catch(() => {}); // Its lease is lost; the error that its caller gets is not the subject of this test.
    assert.deepEqual(ran, ['outside']);
    assert.deepEqual(
      instance.of('lock:skipped').map(({ reason }) => reason),
      ['running-here'],
    );
  },
);
