// More of this subject: ledger/periods, docs/once-per-business-day.test.ts
import assert from 'node:assert/strict';
import type { OncePerConfiguration } from 'cronlatch';
import { closeDay, diary, rowsOf } from '../../support/jobs/close-day';
import { testLedger } from '../../support/stores/ledger-tests';

/** Case | zone, and start of the day | instant of the tick | its business date */
const DAYS: readonly [string, string, string, string][] = [
  ['the gap at the day start (L-37)', 'America/New_York 02:30', '2026-03-08T06:59:59.999Z', '2026-03-07'],
  ['the gap at the day start (L-37)', 'America/New_York 02:30', '2026-03-08T07:00:00.000Z', '2026-03-08'],
  ['the first of two midnights (L-38)', 'America/New_York 01:30', '2026-11-01T05:30:00.000Z', '2026-11-01'],
  ['clocks set back by two hours (L-39)', 'Antarctica/Troll 02:00', '2026-10-25T01:30:00.000Z', '2026-10-25'],
  ['before a skipped date (L-39)', 'Pacific/Apia 00:00', '2011-12-30T09:59:59.999Z', '2011-12-29'],
  ['after a skipped date (L-39)', 'Pacific/Apia 00:00', '2011-12-30T10:00:00.000Z', '2011-12-31'],
  ['a leap day (L-41)', 'UTC 00:00', '2028-02-29T12:00:00.000Z', '2028-02-29'],
  ['an alias of a zone (L-42)', 'Asia/Calcutta 00:00', '2026-11-20T18:30:00.000Z', '2026-11-21'],
];

/** Case | period in New York | instant of the tick | its key | its business date */
const PERIODS: readonly [string, 'hour' | 'week' | 'quarter', string, string, string][] = [
  ['the repeated hour, once (L-40)', 'hour', '2026-11-01T05:59:59.999Z', '2026-11-01T01-0400', '2026-11-01'],
  ['the repeated hour, again (L-40)', 'hour', '2026-11-01T06:00:00.000Z', '2026-11-01T01-0500', '2026-11-01'],
  ['week 53 (L-41)', 'week', '2027-01-03T12:00:00.000Z', '2026-W53', '2026-12-28'],
  ['the end of a quarter (L-41)', 'quarter', '2026-04-01T03:59:59.999Z', '2026-Q1', '2026-01-01'],
  ['the start of a quarter (L-41)', 'quarter', '2026-04-01T04:00:00.000Z', '2026-Q2', '2026-04-01'],
];

const TICKS: readonly [string, Partial<OncePerConfiguration>, string, string, string][] = [
  ...DAYS.map(([what, start, at, key]): (typeof TICKS)[number] => {
    const [timeZone = '', dayStart = ''] = start.split(' ');
    return [what, { timeZone, dayStart }, at, key, key];
  }),
  ...PERIODS.map(([what, period, at, key, date]): (typeof TICKS)[number] => [
    what,
    { timeZone: 'America/New_York', period },
    at,
    key,
    date,
  ]),
];

for (const [what, oncePer, scheduledAt, key, businessDate] of TICKS) {
  testLedger(
    `${what}: a tick of ${oncePer.timeZone} at ${scheduledAt} runs ${key}`,
    async (place) => {
      const instance = place.instance();
      const { task, runs } = diary();
      const job = { ...closeDay(oncePer), scheduledAt: new Date(scheduledAt) };
      await instance.guard.run(job, task);
      assert.deepEqual([runs[0]?.periodKey, runs[0]?.businessDate], [key, businessDate]);
      assert.deepEqual(await rowsOf(instance), [`${key} completed`]);
      const again = await instance.guard.run(job, task);
      assert.deepEqual(again, { executed: false, reason: 'already-completed' });
    },
    { now: scheduledAt },
  );
}

// A Date has milliseconds: a microsecond before the start is truncated to the millisecond before it.
testLedger(
  'the millisecond before the start belongs to the day before; the start belongs to the day (L-35)',
  async (place) => {
    const instance = place.instance();
    const { task, runs } = diary();
    const start = Date.parse('2026-11-20T23:00:00.000Z');
    for (const [atMs, executed] of [
      [start - 1, true],
      [start - 0.001, false],
      [start, true],
      [start + 1, false],
    ] as const) {
      const scheduledAt = new Date(atMs);
      assert.equal(
        (await instance.guard.run({ ...closeDay(), scheduledAt }, task)).executed,
        executed,
        `${atMs}`,
      );
    }
    assert.deepEqual(
      runs.map(({ businessDate, scheduledAt }) => [businessDate, scheduledAt?.getTime()]),
      [
        ['2026-11-20', start - 1],
        ['2026-11-21', start],
      ],
    );
    const [first, second] = [...(await instance.guard.ledger.list({ job: 'close-day' }))].reverse();
    assert.deepEqual([first?.periodEnd, second?.periodStart], [new Date(start), new Date(start)]);
  },
);

testLedger('at selects the period, independently of the schedule and the time (L-35)', async (place) => {
  const { guard } = place.instance();
  const { task, runs } = diary();
  const at = new Date('2026-11-17T12:00:00Z');
  await guard.run({ ...closeDay(), at, scheduledAt: new Date('2026-11-18T12:00:00Z') }, task);
  assert.deepEqual([runs[0]?.periodKey, runs[0]?.isCatchUp], ['2026-11-17', true]);
});

testLedger(
  `target 'previous' counts a run for the day before, and for that day only (L-35)`,
  async (place) => {
    const instance = place.instance();
    const { task, runs } = diary();
    const job = closeDay({ target: 'previous' });
    await instance.guard.run(job, task);
    await place.elapse('1d');
    await instance.guard.run(job, task);
    assert.deepEqual(
      runs.map(({ periodKey, isCatchUp }) => [periodKey, isCatchUp]),
      [
        ['2026-11-19', false],
        ['2026-11-20', false],
      ],
    );
  },
);
