import assert from 'node:assert/strict';
import { closeDay, diary, rowsOf } from '../../support/jobs/close-day';
import type { LedgerPlace } from '../../support/stores/ledger-place';
import { testLedger } from '../../support/stores/ledger-tests';

/**
 * Two instances of a registered job that ran on 20 November, four days later; `takes` returns the duration of
 * each run.
 */
async function fourDaysLater(place: LedgerPlace, takes: (nth: number) => string | undefined) {
  const one = place.instance();
  const other = place.instance();
  let nth = 0;
  const { task, periods, runs } = diary(async () => {
    nth += 1;
    const duration = takes(nth);
    if (duration !== undefined) await place.elapse(duration);
  });
  const job = closeDay({ catchUp: 'all' });
  for (const { guard } of [one, other]) guard.wrap(job, task);
  await one.guard.run(job, () => undefined);
  await place.elapse('4d');
  return { one, other, job, task, runs, periods };
}

const [FIRST, SECOND, THIRD, TODAY] = ['2026-11-21', '2026-11-22', '2026-11-23', '2026-11-24'];
const ALL_DONE = ['2026-11-20', FIRST, SECOND, THIRD, TODAY].map((key) => `${key} completed`);

testLedger(
  'catch-up stops if the rest of the lease is too short for another run, and runOverdue continues it (L-49)',
  async (place) => {
    const { one, job, task, periods } = await fourDaysLater(place, () => '25s');
    await one.guard.run(job, task);
    // 10 s are left, and each run took 25 s.
    assert.deepEqual(periods(), [TODAY, FIRST]);
    assert.deepEqual(await one.guard.runOverdue(), { started: 2, overdue: 0 });
    assert.deepEqual(periods(), [TODAY, FIRST, SECOND, THIRD]);
    assert.deepEqual(await rowsOf(one), ALL_DONE);
    assert.deepEqual(one.of('lock:lost'), []);
  },
);

testLedger(`the expected duration of a run takes today's own run into account (L-49)`, async (place) => {
  const { one, job, task, periods } = await fourDaysLater(place, () => '40s');
  await one.guard.run(job, task);
  assert.deepEqual(periods(), [TODAY]);
  for (const started of [FIRST, SECOND, THIRD]) {
    assert.equal((await one.guard.runOverdue()).started, 1);
    assert.equal(periods().at(-1), started);
  }
  assert.deepEqual(one.of('lock:lost'), []);
});

testLedger(
  'days that are left when the lease expires during catch-up are reported as overdue (L-49)',
  async (place) => {
    const { one, periods } = await fourDaysLater(place, () => '40s');
    assert.deepEqual(await one.guard.runOverdue(), { started: 1, overdue: 2 });
    assert.deepEqual(periods(), [FIRST]);
  },
);

testLedger(
  'a run that outlives the lease is the last one, and another instance continues (L-49)',
  async (place) => {
    const { one, other, job, task, periods } = await fourDaysLater(place, (nth) =>
      nth === 2 ? '2m' : undefined,
    );
    await one.guard.run(job, task);
    assert.deepEqual(periods(), [TODAY, FIRST]);
    assert.equal(one.of('lock:lost').length, 1);
    assert.deepEqual(await other.guard.runOverdue(), { started: 2, overdue: 0 });
    assert.deepEqual(periods(), [TODAY, FIRST, SECOND, THIRD]);
    assert.deepEqual(await rowsOf(one), ALL_DONE);
  },
);

testLedger('with keepAlive one tick catches up with all missed days (L-49)', async (place) => {
  const { one, job, task, periods } = await fourDaysLater(place, () => '15s');
  await one.guard.run({ ...job, keepAlive: true }, task);
  assert.deepEqual(periods(), [TODAY, FIRST, SECOND, THIRD]);
});

testLedger(
  'after the handler has released the lock, no further day starts under it (L-49)',
  async (place) => {
    const { one, other, job, periods } = await fourDaysLater(place, () => undefined);
    const held: boolean[] = [];
    await one.guard.run({ ...job, keepAlive: true }, async (lock) => {
      held.push(lock.remainingMs() > 59_000);
      await lock.unlock();
    });
    assert.deepEqual(held, [true]);
    assert.equal((await other.guard.runOverdue()).started, 3);
    assert.deepEqual(periods(), [FIRST, SECOND, THIRD]);
  },
);

testLedger('a closing guard starts no further day (L-49)', async (place) => {
  const { one, other, job, periods } = await fourDaysLater(place, () => undefined);
  const closing = diary(async () => {
    void one.guard.close({ timeout: '1m' });
    await Promise.resolve();
  });
  await one.guard.run(job, closing.task);
  assert.deepEqual(closing.periods(), [TODAY]);
  assert.equal((await other.guard.runOverdue()).started, 3);
  assert.deepEqual(periods(), [FIRST, SECOND, THIRD]);
});

testLedger('two instances that catch up at the same time run each day once (L-50)', async (place) => {
  const { one, other, job, task, periods } = await fourDaysLater(place, () => undefined);
  await Promise.all([
    one.guard.run(job, task),
    other.guard.run(job, task),
    one.guard.runOverdue(),
    other.guard.runOverdue(),
  ]);
  for (const { guard } of [one, other]) {
    await guard.run(job, task);
    await guard.runOverdue();
  }
  assert.deepEqual(periods().sort(), [FIRST, SECOND, THIRD, TODAY]);
  assert.deepEqual(await rowsOf(one), ALL_DONE);
});

testLedger('two instances under different locks, after a deploy, run each day once (L-50)', async (place) => {
  const { one, other, task, periods } = await fourDaysLater(place, () => undefined);
  const renamed = { ...closeDay({ name: 'close-day', catchUp: 'all' }), name: 'close-day-2' };
  await Promise.all([one.guard.run(closeDay({ catchUp: 'all' }), task), other.guard.run(renamed, task)]);
  assert.deepEqual(periods().sort(), [FIRST, SECOND, THIRD, TODAY]);
  assert.deepEqual(await rowsOf(one), ALL_DONE);
});
