import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SettableClock } from 'cronlatch/testing';
import {
  askCalendar,
  type BusinessCalendar,
  everyDay,
  weekdays,
  withHolidays,
} from '#cronlatch/ledger/periods/calendar';
import { parseCatchUpPolicy, planCatchUp, type CatchUpOptions } from '#cronlatch/ledger/policy/catch-up';
import { periodsWithoutRun } from '#cronlatch/ledger/expected';
import { periodAt, type CalendarKind } from '#cronlatch/ledger/periods/period';
import type { RunSummary } from '#cronlatch/ledger/run';
import { refused } from '../../support/checks/refused';

const OF = `of job 'close-day'`;

interface Situation extends CatchUpOptions {
  now: string;
  first?: string | undefined;
  recorded?: string[];
  timeZone?: string;
  kind?: CalendarKind;
  target?: 'previous';
  calendar?: BusinessCalendar;
}

/** The keys in each list of the plan. */
async function planned({
  now,
  first,
  recorded = [],
  timeZone = 'UTC',
  kind = 'day',
  target,
  calendar = everyDay,
  ...catchUp
}: Situation): Promise<Record<'run' | 'missed', string[]>> {
  const policy = parseCatchUpPolicy({ catchUp: 'all', ...catchUp }, kind, OF);
  const firstPeriodStart =
    first === undefined ? undefined : periodAt(new Date(first), { kind, timeZone }).start;
  const runs = recorded.map((periodKey) => ({ periodKey }) as RunSummary);
  const from = new Date(Date.parse(now) - policy.windowMs);
  const recent = { now: new Date(now), runs, firstPeriodStart };
  const periods = periodsWithoutRun({}, { kind, timeZone, target }, recent, from);
  const clock = new SettableClock();
  const answered = await Promise.all(
    periods.map(async (period) => ({
      period,
      answer: await askCalendar(calendar, period.businessDate, { clock }),
    })),
  );
  const plan = planCatchUp(policy, answered);
  const keys = (list: readonly { key: string }[]): string[] => list.map(({ key }) => key);
  return { run: keys(plan.catchUp), missed: keys(plan.missed) };
}

const NOTHING = { run: [], missed: [] };

/** The job ran on 16 November, then all machines were down until the 20th. */
const DOWN = { now: '2026-11-20T03:00:00Z', first: '2026-11-01T03:00:00Z', recorded: [] as string[] };
DOWN.recorded = Array.from({ length: 16 }, (_, i) => `2026-11-${String(i + 1).padStart(2, '0')}`);
const MISSED = ['2026-11-17', '2026-11-18', '2026-11-19'];

void test('a day with a row, in any state, is not caught up with (L-46)', async () => {
  const recorded = [...DOWN.recorded, '2026-11-18'];
  assert.deepEqual((await planned({ ...DOWN, recorded, catchUp: 'all' })).run, ['2026-11-17', '2026-11-19']);
  assert.deepEqual(
    await planned({ ...DOWN, recorded: [...DOWN.recorded, ...MISSED], catchUp: 'all' }),
    NOTHING,
  );
});

void test(`a run that counts for the day before does not catch up with that day (L-46)`, async () => {
  const plan = await planned({ ...DOWN, target: 'previous', catchUp: 'all' });
  assert.deepEqual(plan.run, ['2026-11-17', '2026-11-18']);
});

void test('as many missed days as the limit allows are all run (L-47)', async () => {
  assert.deepEqual(await planned({ ...DOWN, catchUp: 'all', catchUpLimit: 3 }), { ...NOTHING, run: MISSED });
  const two = await planned({ ...DOWN, catchUp: 'all', catchUpLimit: 2 });
  assert.deepEqual([two.run, two.missed], [MISSED.slice(1), MISSED.slice(0, 1)]);
  assert.equal(parseCatchUpPolicy({}, 'day', OF).limit, 31);
});

void test('a period that ended within the window is included, even if it began before (L-47)', async () => {
  const down = { now: '2026-11-05T03:00:00Z', first: '2026-08-15T03:00:00Z', kind: 'month' as const };
  assert.deepEqual((await planned({ ...down, catchUp: 'all' })).run, ['2026-10']);
  const atTheEdge = { ...DOWN, now: '2026-11-20T00:00:00Z', recorded: [], catchUp: 'all' as const };
  assert.equal((await planned({ ...atTheEdge, catchUpWindow: '2d' })).run[0], '2026-11-18');
});

void test('days before the first recorded day are not missed, and neither is that day (L-48)', async () => {
  const young = { ...DOWN, first: '2026-11-17T03:00:00Z', recorded: [] };
  assert.deepEqual((await planned({ ...young, catchUp: 'all' })).run, ['2026-11-18', '2026-11-19']);
});

void test('a clock change does not change the length of the window (L-51)', async () => {
  const spring = { first: '2026-03-01T12:00:00Z', timeZone: 'Europe/Paris', catchUp: 'all' as const };
  const { run } = await planned({ ...spring, now: '2026-03-31T01:00:00Z', catchUpWindow: '3d' });
  assert.deepEqual(run, ['2026-03-28', '2026-03-29', '2026-03-30']);
});

void test('only business days are expected (L-34)', async () => {
  const calendar = withHolidays(weekdays(), ['2026-11-18']);
  const down = { ...DOWN, recorded: DOWN.recorded.slice(0, 12), calendar };
  assert.deepEqual((await planned(down)).run, ['2026-11-13', '2026-11-16', '2026-11-17', '2026-11-19']);
  assert.deepEqual(await planned({ ...down, catchUp: 'latest', now: '2026-11-23T03:00:00Z' }), {
    ...NOTHING,
    run: ['2026-11-20'],
    missed: ['2026-11-16', '2026-11-17', '2026-11-19'],
  });
});

/** A calendar without data for the given date. */
function silentFor(unknown: string): BusinessCalendar {
  return {
    isBusinessDay(date) {
      if (date === unknown) throw new Error('no data');
      return true;
    },
  };
}

void test(`'latest' plans nothing while the calendar fails for the newest day, because an older day may be the latest (L-34)`, async () => {
  assert.deepEqual(await planned({ ...DOWN, catchUp: 'latest', calendar: silentFor('2026-11-19') }), NOTHING);
});

void test(`if a calendar fails for one date, the others are still caught up with (L-34)`, async () => {
  assert.deepEqual(await planned({ ...DOWN, catchUp: 'all', calendar: silentFor('2026-11-18') }), {
    ...NOTHING,
    run: ['2026-11-17', '2026-11-19'],
  });
  assert.deepEqual(await planned({ ...DOWN, catchUp: 'latest', calendar: silentFor('2026-11-17') }), {
    ...NOTHING,
    run: ['2026-11-19'],
    missed: ['2026-11-18'],
  });
});

const REFUSED: [CatchUpOptions, string][] = [
  [{ catchUp: 'some' as 'all' }, 'catchUp'],
  [{ catchUpWindow: 0 }, 'catchUpWindow'],
  [{ catchUpWindow: '366d' }, 'catchUpWindow'],
  [{ catchUpLimit: 0 }, 'catchUpLimit'],
  [{ catchUpLimit: 1001 }, 'catchUpLimit'],
  [{ catchUpLimit: 2.5 }, 'catchUpLimit'],
];

for (const [options, culprit] of REFUSED)
  void test(`${JSON.stringify(options)} is rejected, and the error names ${culprit} (L-47)`, () => {
    refused(() => parseCatchUpPolicy(options, 'day', OF), `${culprit} of job 'close-day' is `);
  });

void test("catchUp 'latest' is rejected for custom period keys, which have no order (L-47)", () => {
  const parse = (options: CatchUpOptions) => parseCatchUpPolicy(options, () => 'key', OF);
  refused(() => parse({ catchUp: 'latest' }), 'the periods of a key function');
  assert.equal(parse({ catchUp: 'all' }).catchUp, 'all');
  assert.equal(parse({}).catchUp, 'none');
});
