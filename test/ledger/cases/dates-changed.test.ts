import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Child } from '../../processes/child';
import type { ZonedLedgerReport } from '../../processes/fixtures/zoned-ledger';
import { closing } from '../../support/benches/closing';
import { setBack } from '../../support/clocks/set-back-store';
import { closeDay, diary, failing, rowsOf } from '../../support/jobs/close-day';
import { testLedger } from '../../support/stores/ledger-tests';

const HOSTS = [
  ['Pacific/Kiritimati', 14 * 60],
  ['Etc/GMT+12', -12 * 60],
  ['UTC', 0],
] as const;

for (const [TZ, offsetMinutes] of HOSTS) {
  void test(`in a process with TZ ${TZ} a run has the business date of its job (L-43)`, async () => {
    await using child = closing(
      new Child<ZonedLedgerReport>('zoned-ledger.js', {
        // Around midnight in Shanghai.
        argument: { instants: ['2026-11-20T15:59:58Z', '2026-11-20T16:00:00Z', '2026-11-20T16:00:01Z'] },
        environment: { TZ },
      }),
    );
    assert.deepEqual(await child.received('report'), {
      event: 'report',
      offsetMinutes,
      periods: ['2026-11-20', '2026-11-21'],
      rows: ['2026-11-20 completed', '2026-11-21 completed'],
    });
  });
}

testLedger('a TZ that changes while the process runs has no effect (L-43)', async (place) => {
  const before = process.env.TZ;
  const instance = place.instance();
  const { task } = diary();
  try {
    for (const [TZ] of HOSTS) {
      process.env.TZ = TZ;
      await instance.guard.run(closeDay(), task);
      const run = await instance.guard.ledger.last('close-day');
      assert.deepEqual(
        [run?.periodKey, run?.periodStart, run?.periodEnd, run?.timeZone],
        ['2026-11-20', new Date('2026-11-19T23:00:00Z'), new Date('2026-11-20T23:00:00Z'), 'Europe/Paris'],
      );
    }
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
  assert.equal((await instance.guard.ledger.list({ job: 'close-day' })).length, 1);
});

const NOON = '2026-11-20T04:00:00Z';
const SHANGHAI = { timeZone: 'Asia/Shanghai' } as const;

testLedger(
  'if a deploy changes the time zone at noon, no completed date is repeated (L-44)',
  async (place) => {
    const instance = place.instance();
    const { task, periods } = diary();
    for (const days of [0, 1]) {
      if (days > 0) await place.elapse('1d');
      await instance.guard.run(closeDay(SHANGHAI), task);
    }
    // In New York it is still 20 November, which already ran yesterday.
    const deployed = place.instance();
    const job = closeDay({ timeZone: 'America/New_York', catchUp: 'all' });
    deployed.guard.wrap(job, task);
    assert.deepEqual(await deployed.guard.run(job, task), { executed: false, reason: 'already-completed' });
    await place.elapse('1d');
    assert.deepEqual(await deployed.guard.run(job, task), { executed: false, reason: 'already-completed' });
    await place.elapse('1d');
    await deployed.guard.run(job, task);
    await deployed.guard.runOverdue();
    assert.deepEqual(periods(), ['2026-11-20', '2026-11-21', '2026-11-22']);
  },
  { now: NOON },
);

testLedger(
  'if a deploy changes the day start at noon, no completed date is repeated and no date is left out (L-44)',
  async (place) => {
    const { guard } = place.instance();
    const { task, periods } = diary();
    await guard.run(closeDay(SHANGHAI), task);
    const later = closeDay({ ...SHANGHAI, dayStart: '13:00' });
    // Before 13:00 it is the 19th again, which never ran; after that it is the 20th.
    assert.equal((await guard.run(later, task)).executed, true);
    await place.elapse('1h1m');
    assert.deepEqual(await guard.run(later, task), { executed: false, reason: 'already-completed' });
    await place.elapse('1d');
    await guard.run(later, task);
    assert.deepEqual(periods(), ['2026-11-20', '2026-11-19', '2026-11-21']);
  },
  { now: NOON },
);

testLedger(
  'an overdue run from before the deploy keeps its key and its period (L-44)',
  async (place) => {
    const { guard } = place.instance();
    const { task, runs } = failing(1);
    await assert.rejects(guard.run(closeDay(SHANGHAI), task), /no bank today/);
    await place.elapse('1m1s');
    const deployed = place.instance();
    deployed.guard.wrap(closeDay({ timeZone: 'America/New_York', dayStart: '06:00' }), task);
    assert.equal((await deployed.guard.runOverdue()).started, 1);
    const [first, second] = runs;
    assert.deepEqual(
      [second?.periodKey, second?.businessDate, second?.periodStart, second?.periodEnd],
      [first?.periodKey, '2026-11-20', first?.periodStart, first?.periodEnd],
    );
    assert.equal(second?.idempotencyKey, first?.idempotencyKey);
  },
  { now: NOON },
);

// 23:30 UTC is half past midnight in Paris.
const HALF_PAST_MIDNIGHT = { now: '2026-11-20T23:30:00Z' };
const HOUR_MS = 3_600_000;

for (const [what, scheduledAt] of [
  ['by a scheduled tick', new Date('2026-11-20T23:30:00Z')],
  ['by a call', undefined],
] as const) {
  testLedger(
    `if the database clock goes back an hour, into yesterday, nothing runs again ${what} (L-45)`,
    async (place) => {
      const before = place.instance();
      const { task, periods } = diary();
      await before.guard.run({ ...closeDay(), scheduledAt: new Date('2026-11-20T02:00:00Z') }, task);
      await before.guard.run(closeDay(), task);
      assert.deepEqual(periods(), ['2026-11-20', '2026-11-21']);

      const after = place.instance({ runStore: setBack(before.store, HOUR_MS) });
      const job = { ...closeDay({ catchUp: 'all' }), scheduledAt };
      after.guard.wrap(closeDay({ catchUp: 'all' }), task);
      assert.deepEqual(await after.guard.run(job, task), { executed: false, reason: 'already-completed' });
      assert.deepEqual(await after.guard.runOverdue(), { started: 0, overdue: 0 });
      await place.elapse('1h');
      assert.deepEqual(await after.guard.run(job, task), { executed: false, reason: 'already-completed' });
      assert.deepEqual(await rowsOf(after), ['2026-11-20 completed', '2026-11-21 completed']);
    },
    HALF_PAST_MIDNIGHT,
  );
}

testLedger(
  'if the database clock goes back an hour, a retry only waits longer (L-45)',
  async (place) => {
    const before = place.instance();
    const { task, runs } = failing(1);
    await assert.rejects(before.guard.run(closeDay(), task), /no bank today/);
    const after = place.instance({ runStore: setBack(before.store, HOUR_MS) });
    const tick = { ...closeDay({ maxSkew: '2h' }), scheduledAt: new Date(HALF_PAST_MIDNIGHT.now) };
    await place.elapse('2m');
    assert.deepEqual(await after.guard.run(tick, task), { executed: false, reason: 'not-due' });
    await place.elapse('1h');
    assert.deepEqual(await after.guard.run(tick, task), { executed: true, value: 'done' });
    assert.deepEqual(
      runs.map(({ attempt }) => attempt),
      [1, 2],
    );
  },
  HALF_PAST_MIDNIGHT,
);
