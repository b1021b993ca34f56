import assert from 'node:assert/strict';
import { closeDay, diary, failing, rowsOf } from '../../support/close-day';
import { testLedger } from '../../support/test-ledger';

// The day in Paris began at 23:00 UTC, four hours before the start of the test.

testLedger('the deadline counts from the start of the period, not from the tick (L-33)', async (place) => {
  const instance = place.instance();
  const { task, runs } = diary();
  const job = closeDay({ startDeadline: '3h' });
  assert.deepEqual(await instance.guard.run(job, task), { executed: false, reason: 'deadline' });
  assert.deepEqual(await rowsOf(instance), ['2026-11-20 skipped(deadline)']);
  const [skipped] = instance.of('run:skipped');
  assert.deepEqual([skipped?.reason, skipped?.run?.periodKey], ['deadline', '2026-11-20']);
  assert.deepEqual(await instance.guard.run(job, task), { executed: false, reason: 'skipped' });
  assert.equal(runs.length, 0);
});

testLedger('a run starts before the deadline, and its retries may follow after it (L-33)', async (place) => {
  const { guard } = place.instance();
  const { task, runs } = failing(1);
  const job = closeDay({ startDeadline: '5h', retry: { initialDelay: '2h', maxDelay: '2h' } });
  await assert.rejects(guard.run(job, task), /no bank today/);
  await place.elapse('2h1s');
  assert.deepEqual(await guard.run(job, task), { executed: true, value: 'done' });
  assert.equal(runs.length, 2);
});

testLedger(
  'the deadline of a late tick of yesterday counts from the start of yesterday (L-33)',
  async (place) => {
    const instance = place.instance();
    const { task, periods } = diary();
    const job = closeDay({ startDeadline: '6h' });
    const scheduledAt = new Date('2026-11-19T22:55:00Z');
    const late = await instance.guard.run({ ...job, scheduledAt }, task);
    assert.deepEqual(late, { executed: false, reason: 'deadline' });
    await instance.guard.run(job, task);
    assert.deepEqual(await rowsOf(instance), ['2026-11-19 skipped(deadline)', '2026-11-20 completed']);
    assert.deepEqual(periods(), ['2026-11-20']);
  },
);

testLedger(
  'a run that was given back before it started, and waited too long, is skipped (L-33)',
  async (place) => {
    const instance = place.instance();
    const { task, runs } = diary((run) => run.giveBack());
    const job = closeDay({ startDeadline: '5h' });
    instance.guard.wrap(job, task);
    await instance.guard.run(job, task);
    assert.deepEqual(await rowsOf(instance), ['2026-11-20 pending']);
    await place.elapse('2h');
    await instance.guard.runOverdue();
    assert.deepEqual(await rowsOf(instance), ['2026-11-20 skipped(deadline)']);
    assert.deepEqual(await instance.guard.runOverdue(), { started: 0, overdue: 0 });
    assert.equal(runs.length, 1);
  },
);

testLedger('a run that an operator reruns starts, however late it is (L-33)', async (place) => {
  const instance = place.instance();
  const { task, runs } = diary();
  const job = closeDay({ startDeadline: '3h' });
  instance.guard.wrap(job, task);
  assert.deepEqual(await instance.guard.run(job, task), { executed: false, reason: 'deadline' });
  const [skipped] = await instance.guard.ledger.list({});
  assert.ok(skipped);
  await instance.guard.ledger.rerun(skipped, { actor: 'Ada', reason: 'the bank waits' });
  assert.deepEqual(await instance.guard.runOverdue(), { started: 1, overdue: 0 });
  assert.deepEqual(await rowsOf(instance), ['2026-11-20 completed']);
  assert.equal(runs.length, 1);
});
