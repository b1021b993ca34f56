import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { LockStorageError } from 'cronlatch';
import { operations } from 'cronlatch/operations';
import type { Clock } from 'cronlatch/provider';
import { BY } from '../../support/jobs/acts';
import { closeDay, diary, failing, rowsOf } from '../../support/jobs/close-day';
import type { LedgerPlace } from '../../support/stores/ledger-place';
import { testLedger } from '../../support/stores/ledger-tests';

// The day in Paris began at 23:00 UTC, four hours before the start of the test.
const NOW_MS = Date.parse('2026-11-20T03:00:00Z');
const minutesAgo = (minutes: number): Date => new Date(NOW_MS - minutes * 60_000);

testLedger(
  'the deadline counts from the scheduled time of the tick, not from the start of the period (L-33)',
  async (place) => {
    const instance = place.instance();
    const { task, runs } = diary();
    const job = closeDay({ startDeadline: '1h' });
    const late = { ...job, scheduledAt: minutesAgo(61) };
    assert.deepEqual(await instance.guard.run(late, task), { executed: false, reason: 'deadline' });
    assert.deepEqual(await rowsOf(instance), ['2026-11-20 skipped(deadline)']);
    const [skipped] = instance.of('run:skipped');
    assert.deepEqual([skipped?.reason, skipped?.run?.periodKey], ['deadline', '2026-11-20']);
    assert.deepEqual(await instance.guard.run(late, task), { executed: false, reason: 'skipped' });
    assert.equal(runs.length, 0);
    const other = closeDay({ name: 'in-time', startDeadline: '1h' });
    await instance.guard.run({ ...other, scheduledAt: minutesAgo(59) }, task);
    assert.deepEqual(await rowsOf(instance, 'in-time'), ['2026-11-20 completed']);
  },
);

testLedger('a call without a scheduled time is never late (L-33)', async (place) => {
  const { guard } = place.instance();
  const { task } = diary();
  assert.equal((await guard.run(closeDay({ startDeadline: '1s' }), task)).executed, true);
});

testLedger(
  'a call for a period of its choice counts from the start of that period, unless it has a scheduled time (L-33)',
  async (place) => {
    const { guard } = place.instance();
    const { task } = diary();
    const at = new Date(NOW_MS);
    const late = { executed: false, reason: 'deadline' };
    assert.deepEqual(await guard.run({ ...closeDay({ name: 'a', startDeadline: '3h' }), at }, task), late);
    const inTime = { ...closeDay({ name: 'b', startDeadline: '5h' }), at };
    assert.equal((await guard.run(inTime, task)).executed, true);
    const scheduled = { ...closeDay({ name: 'c', startDeadline: '1h' }), at, scheduledAt: minutesAgo(30) };
    assert.equal((await guard.run(scheduled, task)).executed, true);
  },
);

testLedger('a run starts before the deadline, and its retries may follow after it (L-33)', async (place) => {
  const { guard } = place.instance();
  const { task, runs } = failing(1);
  const retry = { initialDelay: '2h', maxDelay: '2h' };
  const job = { ...closeDay({ startDeadline: '1h', retry }), scheduledAt: minutesAgo(30) };
  await assert.rejects(guard.run(job, task), /no bank today/);
  await place.elapse('2h1s');
  assert.deepEqual(await guard.run(job, task), { executed: true, value: 'done' });
  assert.equal(runs.length, 2);
});

testLedger('a late tick of yesterday counts from its own scheduled time (L-33)', async (place) => {
  const instance = place.instance();
  const { task, periods } = diary();
  const scheduledAt = new Date('2026-11-19T22:55:00Z');
  const job = closeDay({ startDeadline: '4h' });
  const late = await instance.guard.run({ ...job, scheduledAt }, task);
  assert.deepEqual(late, { executed: false, reason: 'deadline' });
  await instance.guard.run(job, task);
  assert.deepEqual(await rowsOf(instance), ['2026-11-19 skipped(deadline)', '2026-11-20 completed']);
  await instance.guard.run({ ...closeDay({ name: 'patient', startDeadline: '5h' }), scheduledAt }, task);
  assert.deepEqual(periods(), ['2026-11-20', '2026-11-19']);
});

testLedger('a tick that counts for the period before is not late for that reason (L-33)', async (place) => {
  const { guard } = place.instance();
  const { task, periods } = diary();
  const job = closeDay({ target: 'previous', startDeadline: '1h' });
  await guard.run({ ...job, scheduledAt: minutesAgo(5) }, task);
  assert.deepEqual(periods(), ['2026-11-19']);
});

testLedger(
  'the deadline of a job with a key function counts from the scheduled time (L-33)',
  async (place) => {
    const { guard } = place.instance();
    const { task, periods } = diary();
    const of = (name: string) => closeDay({ name, period: () => 'key', startDeadline: '1h' });
    const late = await guard.run({ ...of('late'), scheduledAt: minutesAgo(61) }, task);
    assert.deepEqual(late, { executed: false, reason: 'deadline' });
    await guard.run({ ...of('in-time'), scheduledAt: minutesAgo(59) }, task);
    assert.deepEqual(periods(), ['key']);
  },
);

/** A host whose clock is behind the database's, but not by more than `maxSkew`. */
function clockBehind({ clock }: LedgerPlace, minutes: number): Clock {
  return {
    monotonicMs: () => clock.monotonicMs(),
    wallMs: () => clock.wallMs() - minutes * 60_000,
    schedule: (delayMs, callback) => clock.schedule(delayMs, callback),
  };
}

testLedger('a tick on time is not late because the clock of its host is behind (L-33)', async (place) => {
  const { guard } = place.instance({ clock: clockBehind(place, 4) });
  const { task } = diary();
  const job = { ...closeDay({ startDeadline: '1m' }), scheduledAt: minutesAgo(4) };
  assert.equal((await guard.run(job, task)).executed, true);
});

/** A tick that the store does not answer, and which the guard therefore retries. */
async function unansweredTick(place: LedgerPlace, startDeadline: string) {
  const instance = place.instance();
  const { task, runs } = diary();
  const scheduledAt = (): Date => minutesAgo(30);
  const tick = instance.guard.wrap(closeDay({ startDeadline }), task, { scheduledAt });
  const down = mock.method(instance.store, 'peek', () => Promise.reject(new LockStorageError('no answer')));
  await tick();
  down.mock.restore();
  return { instance, runs };
}

testLedger(
  'an unanswered tick is retried until the deadline after its scheduled time (L-33)',
  async (place) => {
    const { instance, runs } = await unansweredTick(place, '1h');
    await place.elapse('29m');
    assert.deepEqual(await instance.guard.runOverdue(), { started: 1, overdue: 0 });
    assert.deepEqual(await rowsOf(instance), ['2026-11-20 completed']);
    assert.equal(runs.length, 1);
  },
);

testLedger('an unanswered tick does not run after the deadline (L-33)', async (place) => {
  const { instance, runs } = await unansweredTick(place, '1h');
  await place.elapse('31m');
  await instance.guard.runOverdue();
  assert.deepEqual(await rowsOf(instance), ['2026-11-20 skipped(deadline)']);
  assert.equal(runs.length, 0);
});

/** A run that its handler has given back. The guard does not know its scheduled time any more. */
async function givenBack(place: LedgerPlace, startDeadline: string) {
  const instance = place.instance();
  const { task, runs } = diary((run) => (runs.length === 1 ? run.giveBack() : 'done'));
  const job = closeDay({ startDeadline });
  instance.guard.wrap(job, task);
  await instance.guard.run(job, task);
  assert.deepEqual(await rowsOf(instance), ['2026-11-20 pending']);
  return { instance, runs };
}

testLedger(
  'a run that was given back counts from its first claim, and starts in time (L-33)',
  async (place) => {
    const { instance, runs } = await givenBack(place, '1h');
    await place.elapse('59m');
    await instance.guard.runOverdue();
    assert.deepEqual(await rowsOf(instance), ['2026-11-20 completed']);
    assert.equal(runs.length, 2);
  },
);

testLedger(
  'a run that was given back before it started, and waited too long, is skipped (L-33)',
  async (place) => {
    const { instance, runs } = await givenBack(place, '1h');
    await place.elapse('2h');
    await instance.guard.runOverdue();
    assert.deepEqual(await rowsOf(instance), ['2026-11-20 skipped(deadline)']);
    assert.deepEqual(await instance.guard.runOverdue(), { started: 0, overdue: 0 });
    assert.equal(runs.length, 1);
  },
);

testLedger(
  'a missed day is caught up if the deadline after its start has not passed, and recorded as missed otherwise (L-33)',
  async (place) => {
    const instance = place.instance();
    const { task, periods } = diary();
    const job = closeDay({ catchUp: 'all', startDeadline: '30h' });
    await instance.guard.run(job, task);
    await place.elapse('4d');
    await instance.guard.run(job, task);
    assert.deepEqual(periods(), ['2026-11-20', '2026-11-24', '2026-11-23']);
    assert.deepEqual(await rowsOf(instance), [
      '2026-11-20 completed',
      '2026-11-21 skipped(missed)',
      '2026-11-22 skipped(missed)',
      '2026-11-23 completed',
      '2026-11-24 completed',
    ]);
  },
);

testLedger('a run that an operator reruns starts, however late it is (L-33)', async (place) => {
  const instance = place.instance();
  const { task, runs } = diary();
  const job = closeDay({ startDeadline: '1h' });
  instance.guard.wrap(job, task);
  const late = await instance.guard.run({ ...job, scheduledAt: minutesAgo(90) }, task);
  assert.deepEqual(late, { executed: false, reason: 'deadline' });
  await operations(instance.guard).rerun({ job: 'close-day' }, BY);
  assert.deepEqual(await instance.guard.runOverdue(), { started: 1, overdue: 0 });
  assert.deepEqual(await rowsOf(instance), ['2026-11-20 completed']);
  assert.equal(runs.length, 1);
});
