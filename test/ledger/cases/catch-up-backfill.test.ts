import assert from 'node:assert/strict';
import type { OncePerConfiguration } from 'cronlatch';
import { weekdays } from 'cronlatch/calendar';
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

const keysOf = (added: readonly { key: string }[]): string[] => added.map(({ key }) => key);

testLedger(
  'backfill creates pending runs for business days without a run, and runOverdue runs them (L-46)',
  async (place) => {
    const { guard, instance, periods, runs } = await ranOnFriday(place, { calendar: weekdays() });
    const { added } = await guard.backfill('close-day', { from: '2026-11-20', to: '2026-11-30' });
    // Not the weekend, and not the current day.
    assert.deepEqual(keysOf(added), ['2026-11-23', '2026-11-24']);
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
    assert.deepEqual((await guard.backfill('close-day', { from: '2026-11-20', to: '2026-11-30' })).added, []);
  },
);

testLedger('the next tick runs its own day first, and then the backfilled days (L-46)', async (place) => {
  const { guard, job, task, periods } = await ranOnFriday(place);
  await guard.backfill('close-day', { from: '2026-11-22', to: '2026-11-23' });
  await guard.run(job, task);
  assert.deepEqual(periods(), ['2026-11-20', '2026-11-25', '2026-11-22', '2026-11-23']);
});

testLedger('only force backfills days before the oldest known run (L-48)', async (place) => {
  const { guard, periods } = await ranOnFriday(place);
  const range = { from: '2026-11-18', to: '2026-11-19' };
  await assert.rejects(guard.backfill('close-day', range), /'close-day'.*so far back.*force: true/);
  const { added } = await guard.backfill('close-day', { ...range, force: true });
  assert.deepEqual(keysOf(added), ['2026-11-18', '2026-11-19']);
  await guard.runOverdue();
  assert.deepEqual(periods(), ['2026-11-20', '2026-11-18', '2026-11-19']);
});

testLedger('only force backfills a job without any recorded run (L-48)', async (place) => {
  const { guard } = place.instance();
  guard.wrap(closeDay(), () => undefined);
  const range = { from: '2026-11-18', to: '2026-11-19' };
  await assert.rejects(guard.backfill('close-day', range), /it has no recorded run/);
  assert.equal((await guard.backfill('close-day', { ...range, force: true })).added.length, 2);
});

testLedger(
  'backfill requires a registered job with ordered periods, and valid dates (L-48)',
  async (place) => {
    const { guard } = place.instance();
    await assert.rejects(
      guard.backfill('close-day', { from: '2026-11-18', to: '2026-11-19' }),
      /not registered/,
    );
    guard.wrap(closeDay({ name: 'batches', period: () => 'one' }), () => undefined);
    await assert.rejects(
      guard.backfill('batches', { from: '2026-11-18', to: '2026-11-19' }),
      /key function.* Compare ledger\.list\(\)/,
    );
    await assert.rejects(guard.ledger.gaps('batches'), /key function.* Compare ledger\.list\(\)/);
    guard.wrap(closeDay(), () => undefined);
    await assert.rejects(
      guard.backfill('close-day', { from: '2026-11-31', to: '2026-12-01' }),
      /from is "2026-11-31"/,
    );
  },
);

testLedger('a backfill stops at a date for which the calendar fails (L-34)', async (place) => {
  const cause = new Error('no data');
  const calendar = {
    isBusinessDay(date: string) {
      if (date === '2026-11-22') throw cause;
      return true;
    },
  };
  const { guard, instance } = await ranOnFriday(place, { calendar });
  // The caller made no mistake: the calendar failed, and the error keeps its cause.
  const failure = (message: RegExp) => ({
    code: 'CRONLATCH_CALENDAR',
    name: 'CalendarError',
    message,
    cause,
  });
  const range = { from: '2026-11-20', to: '2026-11-24' };
  await assert.rejects(
    guard.backfill('close-day', range),
    failure(/stopped: the calendar threw for 2026-11-22/),
  );
  assert.deepEqual(await rowsOf(instance), ['2026-11-20 completed', '2026-11-21 pending']);
  await assert.rejects(
    guard.ledger.gaps('close-day'),
    failure(/Cannot list the gaps of job 'close-day': the calendar threw for 2026-11-22/),
  );
});

testLedger(
  'a backfill across a skipped date creates no run for it (L-51)',
  async (place) => {
    const { guard } = await ranOnFriday(place, { timeZone: 'Pacific/Apia' });
    const { added } = await guard.backfill('close-day', { from: '2011-12-27', to: '2011-12-31' });
    assert.deepEqual(keysOf(added), ['2011-12-28', '2011-12-29', '2011-12-31']);
  },
  { now: '2011-12-27T20:00:00Z' },
);
