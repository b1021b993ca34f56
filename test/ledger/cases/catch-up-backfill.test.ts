import assert from 'node:assert/strict';
import type { OncePerConfiguration } from 'cronlatch';
import { weekdays } from 'cronlatch/calendar';
import { addRuns } from '../../support/jobs/acts';
import { closeDay, diary, rowsOf } from '../../support/jobs/close-day';
import type { LedgerPlace } from '../../support/stores/ledger-place';
import { testLedger } from '../../support/stores/ledger-tests';

async function ranOnFriday(place: LedgerPlace, oncePer: Partial<OncePerConfiguration> = {}) {
  const instance = place.instance();
  const { task, periods, runs } = diary();
  const job = closeDay(oncePer);
  instance.guard.wrap(job, task);
  await instance.guard.run(job, task);
  await place.elapse('5d');
  return { instance, guard: instance.guard, job, task, periods, runs };
}

testLedger(
  'an operator adds pending runs for business days without a run, and runOverdue runs them (L-46)',
  async (place) => {
    const { guard, instance, periods, runs } = await ranOnFriday(place, { calendar: weekdays() });
    const range = { from: '2026-11-20', to: '2026-11-30' };
    // Not the weekend, and not the current day.
    assert.deepEqual(await addRuns(guard, range), ['2026-11-23', '2026-11-24']);
    assert.deepEqual(await rowsOf(instance), [
      '2026-11-20 completed',
      '2026-11-23 pending',
      '2026-11-24 pending',
    ]);
    assert.deepEqual(await guard.runOverdue(), { started: 2, overdue: 0 });
    assert.deepEqual(periods(), ['2026-11-20', '2026-11-23', '2026-11-24']);
    assert.deepEqual(
      runs.map(({ isCatchUp }) => isCatchUp),
      [false, true, true],
    );
    assert.deepEqual(await guard.ledger.gaps('close-day'), []);
    assert.deepEqual(await addRuns(guard, range), []);
  },
);

testLedger('the next tick runs its own day first, and then the added days (L-46)', async (place) => {
  const { guard, job, task, periods } = await ranOnFriday(place);
  await addRuns(guard, { from: '2026-11-22', to: '2026-11-23' });
  await guard.run(job, task);
  assert.deepEqual(periods(), ['2026-11-20', '2026-11-25', '2026-11-22', '2026-11-23']);
});

testLedger('only force adds days before the oldest known run (L-48)', async (place) => {
  const { guard, periods } = await ranOnFriday(place);
  const range = { from: '2026-11-18', to: '2026-11-19' };
  await assert.rejects(addRuns(guard, range), /'close-day'.*so far back.*force: true/);
  assert.deepEqual(await addRuns(guard, { ...range, force: true }), ['2026-11-18', '2026-11-19']);
  await guard.runOverdue();
  assert.deepEqual(periods(), ['2026-11-20', '2026-11-18', '2026-11-19']);
});

testLedger('only force adds days to a job without any recorded run (L-48)', async (place) => {
  const { guard } = place.instance();
  guard.wrap(closeDay(), () => undefined);
  const range = { from: '2026-11-18', to: '2026-11-19' };
  await assert.rejects(addRuns(guard, range), /it has no recorded run/);
  assert.equal((await addRuns(guard, { ...range, force: true })).length, 2);
});

testLedger(
  'adding runs requires a registered job with ordered periods, and valid dates (L-48)',
  async (place) => {
    const { guard } = place.instance();
    const range = { from: '2026-11-18', to: '2026-11-19' };
    await assert.rejects(addRuns(guard, range), /There is no registered job 'close-day'/);
    guard.wrap(closeDay({ name: 'batches', period: () => 'one' }), () => undefined);
    await assert.rejects(addRuns(guard, range, 'batches'), /key function.* Compare ledger\.list\(\)/);
    await assert.rejects(guard.ledger.gaps('batches'), /key function.* Compare ledger\.list\(\)/);
    guard.wrap(closeDay(), () => undefined);
    await assert.rejects(addRuns(guard, { ...range, from: '2026-11-31' }), /from is "2026-11-31"/);
  },
);

testLedger(
  'runs are added for all days of a range, or for none if the calendar fails (L-34)',
  async (place) => {
    const cause = new Error('no data');
    const calendar = {
      isBusinessDay(date: string) {
        if (date === '2026-11-22') throw cause;
        return true;
      },
    };
    const { guard, instance } = await ranOnFriday(place, { calendar });
    // The caller made no mistake: the calendar failed, and the error keeps its cause.
    const failure = {
      code: 'CRONLATCH_CALENDAR',
      name: 'CalendarError',
      message: "Cannot list the periods of job 'close-day': the calendar threw for 2026-11-22.",
      cause,
    };
    await assert.rejects(addRuns(guard, { from: '2026-11-20', to: '2026-11-24' }), failure);
    assert.deepEqual(await rowsOf(instance), ['2026-11-20 completed']);
    await assert.rejects(guard.ledger.gaps('close-day'), failure);
  },
);

testLedger(
  'a range across a skipped date adds no run for it (L-51)',
  async (place) => {
    const { guard } = await ranOnFriday(place, { timeZone: 'Pacific/Apia' });
    const added = await addRuns(guard, { from: '2011-12-27', to: '2011-12-31' });
    assert.deepEqual(added, ['2011-12-28', '2011-12-29', '2011-12-31']);
  },
  { now: '2011-12-27T20:00:00Z' },
);
