import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { createTask } from 'node-cron';
import { judge, type Count } from '../../bench/torture/judge';
import { ROWS, type Row } from '../../bench/torture/rows';
import { CALM_MS, isSettled, QUIET_MS } from '../../bench/torture/settling';
import { scheduleOf, SIDES } from '../../bench/torture/slots';
import type { Run, Strike } from '../../bench/torture/story';
import { complaintsAbout, type RowResult } from '../../bench/torture/verdict';

const SLOTS = [10_000, 20_000];

/**
 * A story such as `10 a 11-15, 20 b 20-21!`: for the fire at 10 s, process a ran from 11 s until 15 s; with `!` it crashed
 * then, with `?` it gave up.
 */
function runs(story: string): Run[] {
  return story.split(', ').map((text) => {
    const [slot, instance = '', times = ''] = text.split(' ');
    const [from, until = ''] = times.replace(/[!?]$/, '').split('-');
    const ending = times.endsWith('!') ? 'crashed' : times.endsWith('?') ? 'failed' : 'completed';
    return {
      ...{ slotMs: Number(slot) * 1000, instance, beganMs: Number(from) * 1000 },
      endedMs: until === '' ? Infinity : Number(until) * 1000,
      ending: until === '' ? 'going-on' : ending,
    };
  });
}

void suite('the judge of a torture', () => {
  const NONE = { duplicates: 0, overlaps: 0, lost: 0 };
  const cases: [story: string, expected: Partial<Count>, name: string][] = [
    ['10 a 11-15, 20 b 45-50', {}, 'one run per fire, however late'],
    ['20 b 20-21, 10 a 21-25', {}, 'one run per fire, in another order'],
    ['10 a 11-12, 20 b 20-21, 10 b 40-41', { duplicates: 1 }, 'a second run in another process'],
    ['10 a 11-12, 20 b 20-21, 10 a 40-41', { duplicates: 1 }, 'a second run in the same process'],
    ['10 a 11-12, 20 b 20-21, 10 b 40-41!', { duplicates: 1 }, 'a second run that crashed'],
    ['10 a 11-12, 20 b 20-21, 10 b 40-41?', { duplicates: 1 }, 'a second run that gave up'],
    ['10 a 11-12, 20 b 20-21, 10 b 40-', { duplicates: 1 }, 'a second run that is unfinished'],
    ['10 a 11-12, 10 b 12-13, 20 b 20-21, 10 a 40-41', { duplicates: 2 }, 'a second and a third run'],
    ['10 a 11-12!, 10 b 15-16, 20 b 20-21', {}, 'a run after one that crashed'],
    ['10 a 11-12?, 10 b 15-16, 20 b 20-21', {}, 'a run after one that gave up'],
    ['10 a 11-12!, 10 b 15-16, 10 c 17-18, 20 b 20-21', { duplicates: 1 }, 'two runs after a crash'],
    ['10 a 11-14!, 10 b 13-16, 20 b 20-21', { duplicates: 1, overlaps: 1 }, 'a run before the crash'],
    ['10 a 11-14?, 10 b 13-16, 20 b 20-21', { duplicates: 1, overlaps: 1 }, 'a run before the other gave up'],
    ['10 a 10-21, 20 b 20-25', { overlaps: 1 }, 'runs for two fires at the same time'],
    ['10 a 10-20, 20 b 20-25', {}, 'a run that begins when another ends'],
    ['20 b 14-15, 30 b 17-18, 10 a 10-40', { overlaps: 2 }, 'two runs during a long one'],
    ['10 a 10-40, 30 b 17-18, 20 b 14-15', { overlaps: 2 }, 'a long run that is recorded first'],
    ['10 a 10-, 20 b 20-25', { overlaps: 1, lost: 1 }, 'a run during an unfinished one'],
    ['20 b 20-21', { lost: 1 }, 'a fire without a run'],
    ['10 a 10-11!, 20 b 20-21', { lost: 1 }, 'a fire whose run crashed'],
    ['10 a 10-11?, 20 b 20-21', { lost: 1 }, 'a fire whose run gave up'],
    ['10 a 10-11, 21 b 21-22', { lost: 1 }, 'a run for another time'],
    ['30 a 30-31', { lost: 2 }, 'no run for any fire'],
  ];
  for (const [story, expected, name] of cases)
    void test(name, () => {
      const { fires, runs: count, hits, ...faults } = judge({ slots: SLOTS, runs: runs(story), strikes: [] });
      assert.deepEqual([fires, count, hits], [2, story.split(', ').length, 0]);
      assert.deepEqual(faults, { ...NONE, ...expected });
    });
});

void suite('a strike hits', () => {
  const cases: [Strike['kind'], name: string, hit: string, missed: string][] = [
    ['kill', 'the process dies in its run', '10 a 11-13!', '10 a 11-11.9, 20 a 20-25!, 10 b 11-13!'],
    ['stop', 'the process does not run the fire', '10 b 13-14, 20 a 20-21', '10 a 11-13'],
    [
      'execute',
      'the other process runs it then',
      '10 b 11-13, 10 a 12.1-14',
      '10 b 10-11, 10 a 11-13, 20 b 11-13',
    ],
  ];
  for (const [kind, name, ...stories] of cases)
    void test(`${kind}: if ${name}`, () => {
      const strikes = [{ kind, slotMs: 10_000, instance: 'a', atMs: 12_000 }];
      const hits = stories.map((story) => judge({ slots: SLOTS, runs: runs(story), strikes }).hits);
      assert.deepEqual(hits, [1, 0]);
    });
});

void suite('the verdict of a torture', () => {
  const CLEAN: Count = { fires: 3, runs: 3, hits: 0, duplicates: 0, overlaps: 0, lost: 0 };
  const [SKEW, , LONG, KILLED] = ROWS as [Row, Row, Row, Row];
  const result = (row: Row, cronlatch: Partial<Count>, peer: Partial<Count>): RowResult => ({
    row,
    counts: { cronlatch: { ...CLEAN, ...cronlatch }, 'node-cron+redis': { ...CLEAN, ...peer } },
  });
  const cases: [name: string, results: RowResult[], complaints: string[]][] = [
    [
      'nothing if cronlatch has no faults, a blow hit it, and node-cron has the known fault',
      [
        result(SKEW, {}, { duplicates: 2 }),
        result(LONG, {}, { overlaps: 3, duplicates: 1 }),
        result(KILLED, { hits: 1 }, { lost: 1 }),
      ],
      [],
    ],
    [
      'each fault of cronlatch',
      [
        result(SKEW, { duplicates: 1, lost: 2 }, { duplicates: 1 }),
        result(LONG, { overlaps: 1 }, { overlaps: 1 }),
      ],
      [
        'row 1: cronlatch duplicates=1, and must have none.',
        'row 1: cronlatch lost=2, and must have none.',
        'row 3: cronlatch overlaps=1, and must have none.',
      ],
    ],
    [
      'a row without the known fault of node-cron',
      [result(SKEW, {}, { overlaps: 1, lost: 1 })],
      ['row 1: node-cron+redis duplicates=0, and is known for it, so the row shows nothing.'],
    ],
    [
      'a row in which no blow hit cronlatch',
      [result(KILLED, {}, { lost: 1 })],
      ['row 4: cronlatch received no blow, so the row shows nothing.'],
    ],
  ];
  for (const [name, results, complaints] of cases)
    void test(`complains about ${name}`, () => assert.deepEqual(complaintsAbout(results), complaints));
});

for (const row of ROWS)
  for (const side of SIDES)
    void test(`row ${row.number}, ${side}: a slot is a time at which node-cron fires`, async () => {
      const schedule = scheduleOf(row, side);
      const task = createTask(schedule.expression, () => {}, { timezone: 'UTC' });
      const fires = task.getNextRuns(60 / row.everyS + 1).map((date) => date.getTime());
      await task.destroy();
      const [firstMs = NaN] = fires;
      assert.deepEqual(schedule.slotsFrom(firstMs - 1, 0, fires.length), fires);
      for (const [index, fireMs] of fires.entries()) {
        assert.equal(schedule.slotAt(fireMs), fireMs);
        assert.equal(schedule.slotAt(fireMs - 1), fires[index - 1] ?? firstMs - row.everyS * 1000);
      }
    });

void test('the first slot of a row is at least the lead away, and the sides do not fire at the same time', () => {
  const slots = SIDES.map((side) => scheduleOf({ everyS: 2 }, side).slotsFrom(100_000, 1500, 2).join());
  assert.deepEqual(slots, ['103000,105000', '102000,104000']);
});

void test('a row settles after its last run, after a longer pause if a fire is missing, and never during a run', () => {
  const settled = (story: string, afterMs: number): boolean[] =>
    [0, 1].map((ms) => isSettled({ slots: SLOTS, runs: runs(story), strikes: [] }, afterMs + ms, 30_000));
  const soon = [false, true];
  assert.deepEqual(settled('10 a 10-11, 20 b 20-21', 30_000 + CALM_MS), soon);
  assert.deepEqual(settled('10 a 10-11, 20 a 20-40', 40_000 + CALM_MS), soon);
  assert.deepEqual(settled('10 a 10-11', 30_000 + QUIET_MS), soon);
  assert.deepEqual(settled('10 a 10-11, 20 a 20-35!', 35_000 + QUIET_MS), soon);
  assert.deepEqual(settled('10 a 10-11, 20 b 20-21, 20 b 20-', 1e9), [false, false]);
});

void test('a skewed clock is ahead for every read of the time, and leaves given instants unchanged', () => {
  const clock = join(__dirname, '../../bench/torture/skewed-clock.js');
  const script =
    "console.log([Date.now(), new Date().getTime(), new Date(5).getTime(), Number(new Date(5) instanceof Date), Date.parse('1970-01-01')].join())";
  const env = { ...process.env, CRONLATCH_TORTURE_SKEW_MS: '3600000' };
  const printed = execFileSync(process.execPath, ['--require', clock, '--eval', script], {
    env,
    encoding: 'utf8',
  });
  const [now = NaN, made = NaN, ...given] = printed.split(',').map(Number);
  for (const shown of [now, made]) assert.ok(Math.abs(shown - 3_600_000 - Date.now()) < 60_000);
  assert.deepEqual(given, [5, 1, 0]);
});
