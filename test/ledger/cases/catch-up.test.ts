import assert from 'node:assert/strict';
import { closeDay, diary, rowsOf } from '../../support/jobs/close-day';
import type { Instance, LedgerPlace } from '../../support/stores/ledger-place';
import { testLedger } from '../../support/stores/ledger-tests';

const gapsOf = async ({ guard }: Instance): Promise<string[]> =>
  (await guard.ledger.gaps('close-day')).map(({ key }) => key);

/** A registered job that ran on 20 November, before all instances went down. */
async function ranBefore(place: LedgerPlace, oncePer: Parameters<typeof closeDay>[0], days: number) {
  const instance = place.instance();
  const { guard } = instance;
  const { task, runs, periods } = diary();
  const job = closeDay(oncePer);
  guard.wrap(job, task);
  await guard.run(job, task);
  for (let left = days; left > 0; left -= 300) await place.elapse(`${Math.min(left, 300)}d`);
  runs.splice(0);
  return { instance, guard, job, task, runs, periods };
}

const MISSED = ['2026-11-21', '2026-11-22', '2026-11-23'];
const TODAY = '2026-11-24';

testLedger(
  `down for three days: with 'none' only today runs, and ledger.gaps lists the missed days (L-46)`,
  async (place) => {
    const { instance, guard, job, task, periods } = await ranBefore(place, { catchUp: 'none' }, 4);
    assert.deepEqual(await gapsOf(instance), MISSED);
    await guard.run(job, task);
    await guard.runOverdue();
    assert.deepEqual(periods(), [TODAY]);
    assert.deepEqual(await gapsOf(instance), MISSED);
    assert.deepEqual(await rowsOf(instance), ['2026-11-20 completed', `${TODAY} completed`]);
  },
);

testLedger(
  `down for three days: 'latest' runs today, then the newest missed day, and records the others as missed (L-46)`,
  async (place) => {
    const { instance, guard, job, task, periods } = await ranBefore(place, { catchUp: 'latest' }, 4);
    await guard.run(job, task);
    assert.deepEqual(periods(), [TODAY, '2026-11-23']);
    assert.deepEqual(await rowsOf(instance), [
      '2026-11-20 completed',
      '2026-11-21 skipped(missed)',
      '2026-11-22 skipped(missed)',
      '2026-11-23 completed',
      `${TODAY} completed`,
    ]);
    assert.deepEqual(await gapsOf(instance), []);
    assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
  },
);

testLedger(
  `down for three days: 'all' runs today, then each missed day, the oldest first (L-46)`,
  async (place) => {
    const { instance, guard, job, task, runs, periods } = await ranBefore(place, { catchUp: 'all' }, 4);
    assert.deepEqual(await gapsOf(instance), MISSED);
    assert.deepEqual(await guard.run(job, task), { executed: true, value: 'done' });
    assert.deepEqual(periods(), [TODAY, ...MISSED]);
    assert.deepEqual(
      runs.map(({ isCatchUp, businessDate }) => [isCatchUp, businessDate]),
      [[false, TODAY], ...MISSED.map((date) => [true, date])],
    );
    assert.deepEqual(await gapsOf(instance), []);
    // One lease for all of them, and one for the day before the instances went down.
    assert.equal(instance.of('lock:acquired').length, 2);
    assert.deepEqual(await guard.run(job, task), { executed: false, reason: 'already-completed' });
    assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
  },
);

testLedger('runOverdue catches up without a tick, and leaves today to its tick (L-46)', async (place) => {
  const { instance, guard, job, task, periods } = await ranBefore(place, { catchUp: 'all' }, 4);
  assert.deepEqual(await guard.runOverdue(), { started: 3, overdue: 0 });
  assert.deepEqual(periods(), MISSED);
  await guard.run(job, task);
  assert.deepEqual(periods(), [...MISSED, TODAY]);
  assert.deepEqual(await gapsOf(instance), []);
});

testLedger('a missed day that fails is retried, and does not delay the other days (L-46)', async (place) => {
  const instance = place.instance();
  const { guard } = instance;
  const { task, periods } = diary(({ periodKey, attempt }) => {
    if (periodKey === '2026-11-22' && attempt === 1) throw new Error('no bank that day');
  });
  const job = closeDay({ catchUp: 'all' });
  guard.wrap(job, task);
  await guard.run(job, task);
  await place.elapse('4d');
  assert.equal((await guard.run(job, task)).executed, true);
  assert.deepEqual(periods(), ['2026-11-20', TODAY, ...MISSED]);
  assert.deepEqual((await rowsOf(instance))[2], '2026-11-22 failed');
  await place.elapse('1m1s');
  assert.deepEqual(await guard.runOverdue(), { started: 1, overdue: 0 });
  assert.equal(periods().at(-1), '2026-11-22');
});

testLedger(
  'a host whose clock is ahead still finds missed days after the day has ended (L-46)',
  async (place) => {
    const instance = place.instance();
    const { guard } = instance;
    const { task, periods } = diary();
    guard.wrap(closeDay({ catchUp: 'all' }), task);
    await guard.run(closeDay({ catchUp: 'all' }), task);
    await place.elapse('1d');
    place.clock.jump(120_000);
    // It is 23:59 in Paris, and 00:01 on this host.
    assert.equal((await guard.runOverdue()).started, 0);
    await place.elapse('2m');
    assert.equal((await guard.runOverdue()).started, 1);
    assert.deepEqual(periods(), ['2026-11-19', '2026-11-20']);
  },
  { now: '2026-11-19T22:59:00Z' },
);

testLedger(
  '400 days down: only days within the window run, and older ones stay missed (L-47)',
  async (place) => {
    const { instance, guard, job, task, periods } = await ranBefore(place, { catchUp: 'all' }, 400);
    assert.equal((await gapsOf(instance)).length, 399);
    await guard.run(job, task);
    assert.deepEqual(periods(), [
      '2027-12-25',
      ...['18', '19', '20', '21', '22', '23', '24'].map((day) => `2027-12-${day}`),
    ]);
    const gaps = await gapsOf(instance);
    assert.deepEqual([gaps.length, gaps[0], gaps.at(-1)], [392, '2026-11-21', '2027-12-17']);
    assert.equal((await rowsOf(instance)).length, 9);
  },
);

testLedger('400 days down: days beyond the limit are recorded as missed (L-47)', async (place) => {
  const policy = { catchUp: 'all', catchUpWindow: '10d', catchUpLimit: 3 } as const;
  const { instance, guard, job, task, periods } = await ranBefore(place, policy, 400);
  await guard.run(job, task);
  assert.deepEqual(periods(), ['2027-12-25', '2027-12-22', '2027-12-23', '2027-12-24']);
  const missed = (await rowsOf(instance)).filter((row) => row.endsWith('skipped(missed)'));
  assert.deepEqual(
    missed.map((row) => row.slice(0, 10)),
    ['15', '16', '17', '18', '19', '20', '21'].map((day) => `2027-12-${day}`),
  );
  assert.equal((await gapsOf(instance)).at(-1), '2027-12-14');
});

testLedger('a new job has no missed days before it was known (L-48)', async (place) => {
  const instance = place.instance();
  const { guard } = instance;
  const { task, periods } = diary();
  const job = closeDay({ catchUp: 'all' });
  guard.wrap(job, task);
  assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
  assert.deepEqual(await gapsOf(instance), []);
  await guard.run(job, task);
  await guard.runOverdue();
  assert.deepEqual(periods(), ['2026-11-20']);
  assert.deepEqual(await rowsOf(instance), ['2026-11-20 completed']);
});

testLedger('each scope is new on its own (L-48)', async (place) => {
  const instance = place.instance();
  const { guard } = instance;
  const { task, runs } = diary();
  const job = closeDay({ catchUp: 'all' });
  const of = (scope: string) => ({ ...job, oncePer: { ...job.oncePer, scope } });
  await guard.run(of('paris'), task);
  await place.elapse('2d');
  await guard.run(of('lyon'), task);
  await guard.run(of('paris'), task);
  assert.deepEqual(
    runs.map(({ scope, periodKey }) => `${scope} ${periodKey}`),
    ['paris 2026-11-20', 'lyon 2026-11-22', 'paris 2026-11-22', 'paris 2026-11-21'],
  );
});

testLedger(
  'across a skipped date each real date has one run, and the skipped date has none (L-51)',
  async (place) => {
    const instance = place.instance();
    const { guard } = instance;
    const { task, periods } = diary();
    const job = closeDay({ timeZone: 'Pacific/Apia', catchUp: 'all' });
    await guard.run(job, task);
    await place.elapse('5d');
    await guard.run(job, task);
    assert.deepEqual(periods(), [
      ...['2011-12-27', '2012-01-02'],
      ...['2011-12-28', '2011-12-29', '2011-12-31', '2012-01-01'],
    ]);
  },
  { now: '2011-12-27T20:00:00Z' },
);

testLedger(
  'catch-up runs the repeated hour twice (L-51)',
  async (place) => {
    const { guard } = place.instance();
    const { task, periods } = diary();
    const job = closeDay({ period: 'hour', timeZone: 'America/New_York', catchUp: 'all' });
    await guard.run(job, task);
    await place.elapse('4h');
    await guard.run(job, task);
    assert.deepEqual(periods(), [
      '2026-11-01T00-0400',
      '2026-11-01T03-0500',
      '2026-11-01T01-0400',
      '2026-11-01T01-0500',
      '2026-11-01T02-0500',
    ]);
  },
  { now: '2026-11-01T04:30:00Z' },
);

testLedger(
  'catch-up never runs the skipped hour (L-51)',
  async (place) => {
    const { guard } = place.instance();
    const { task, periods } = diary();
    const job = closeDay({ period: 'hour', timeZone: 'America/New_York', catchUp: 'all' });
    await guard.run(job, task);
    await place.elapse('3h');
    await guard.run(job, task);
    assert.deepEqual(periods(), [
      '2026-03-08T00-0500',
      '2026-03-08T04-0400',
      '2026-03-08T01-0500',
      '2026-03-08T03-0400',
    ]);
  },
  { now: '2026-03-08T05:30:00Z' },
);
