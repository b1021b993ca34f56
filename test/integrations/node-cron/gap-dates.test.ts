import assert from 'node:assert/strict';
import { test } from 'node:test';
import { datesInGaps, gapsWithinAYear } from '#cronlatch/integrations/node-cron/skipped-dates';

const shown = (ms: number): string => new Date(ms).toISOString().slice(0, 16);
const gapsFrom = (timeZone: string, from: string): string[] =>
  gapsWithinAYear(timeZone, new Date(from)).map(({ fromMs, toMs }) => `${shown(fromMs)} ${shown(toMs)}`);

const GAPS: [timeZone: string, from: string, gaps: string[]][] = [
  ['Europe/Paris', '2026-11-20T00:00:00Z', ['2027-03-28T02:00 2027-03-28T03:00']],
  ['Africa/Cairo', '2026-11-20T00:00:00Z', ['2027-04-30T00:00 2027-04-30T01:00']],
  ['Australia/Lord_Howe', '2026-11-20T00:00:00Z', ['2027-10-03T02:00 2027-10-03T02:30']],
  [
    'Pacific/Apia',
    '2011-11-01T00:00:00Z',
    ['2011-12-30T00:00 2011-12-31T00:00', '2012-09-30T03:00 2012-09-30T04:00'],
  ],
  ['UTC', '2026-11-20T00:00:00Z', []],
  ['+02:00', '2026-11-20T00:00:00Z', []],
];

for (const [timeZone, from, gaps] of GAPS) {
  void test(`the clocks of ${timeZone} skip ${gaps.join() || 'nothing'}`, () => {
    assert.deepEqual(gapsFrom(timeZone, from), gaps);
  });
}

const at = (time: string): number => Date.parse(`1970-01-01T${time}:00Z`);
const gap = (from: string, to: string) => [{ fromMs: Date.parse(`${from}Z`), toMs: Date.parse(`${to}Z`) }];

void test('a date is skipped if its first and its last wall-clock times are skipped', () => {
  const gaps = gap('2027-03-28T02:00', '2027-03-28T03:00');
  const dates = (first: string, last = first): string[] =>
    datesInGaps(gaps, { earliestMs: at(first), latestMs: at(last) });
  assert.deepEqual(dates('02:00'), ['2027-03-28']);
  assert.deepEqual(dates('02:00', '02:59'), ['2027-03-28']);
  assert.deepEqual(dates('01:59'), []);
  assert.deepEqual(dates('03:00'), []);
  assert.deepEqual(dates('01:59', '02:30'), []);
  assert.deepEqual(dates('02:30', '03:00'), []);
});

void test('a gap may include parts of two dates, or exactly one date', () => {
  const acrossMidnight = gap('2026-03-28T23:30', '2026-03-29T00:30');
  const times = (time: string) => ({ earliestMs: at(time), latestMs: at(time) });
  assert.deepEqual(datesInGaps(acrossMidnight, times('23:45')), ['2026-03-28']);
  assert.deepEqual(datesInGaps(acrossMidnight, times('00:00')), ['2026-03-29']);
  const aWholeDate = gap('2011-12-30T00:00', '2011-12-31T00:00');
  assert.deepEqual(datesInGaps(aWholeDate, { earliestMs: at('00:00'), latestMs: at('23:59') }), [
    '2011-12-30',
  ]);
});
