import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  nextPeriod,
  periodAt,
  periodsBetween,
  previousPeriod,
  type CalendarPeriodOptions,
  type CalendarKind,
} from '#cronlatch/ledger/periods/period';

const at = (text: string): Date => new Date(text);
const zoned = (kind: CalendarKind, timeZone: string, dayStart = '00:00'): CalendarPeriodOptions => ({
  kind,
  timeZone,
  dayStart,
});

/** Case | kind | zone | instant | its key | start | end */
const PERIODS = `
an hour | hour | Asia/Shanghai | 2026-11-20T01:30Z | 2026-11-20T09+0800 | 2026-11-20T01:00Z | 2026-11-20T02:00Z
an hour | hour | UTC | 2026-11-20T01:00Z | 2026-11-20T01+0000 | 2026-11-20T01:00Z | 2026-11-20T02:00Z
an hour | hour | Asia/Kolkata | 2026-11-20T01:29Z | 2026-11-20T06+0530 | 2026-11-20T00:30Z | 2026-11-20T01:30Z
L-40 the repeated hour, once | hour | America/New_York | 2026-11-01T05:59Z | 2026-11-01T01-0400 | 2026-11-01T05:00Z | 2026-11-01T06:00Z
L-40 the repeated hour, again | hour | America/New_York | 2026-11-01T06:00Z | 2026-11-01T01-0500 | 2026-11-01T06:00Z | 2026-11-01T07:00Z
L-40 the hour before a gap | hour | America/New_York | 2026-03-08T06:59Z | 2026-03-08T01-0500 | 2026-03-08T06:00Z | 2026-03-08T07:00Z
L-40 the hour after a gap | hour | America/New_York | 2026-03-08T07:00Z | 2026-03-08T03-0400 | 2026-03-08T07:00Z | 2026-03-08T08:00Z
L-40 half an hour, repeated | hour | Australia/Lord_Howe | 2026-04-04T15:20Z | 2026-04-05T01+1030 | 2026-04-04T15:00Z | 2026-04-04T15:30Z
L-40 half an hour, left of a gap | hour | Australia/Lord_Howe | 2026-10-03T15:40Z | 2026-10-04T02+1100 | 2026-10-03T15:30Z | 2026-10-03T16:00Z
an hour of a zone with seconds | hour | Africa/Monrovia | 1972-01-05T00:44:30Z | 1972-01-05T00-004430 | 1972-01-05T00:44:30Z | 1972-01-05T01:44:30Z
a day | day | Europe/Paris | 2026-11-20T12:00Z | 2026-11-20 | 2026-11-19T23:00Z | 2026-11-20T23:00Z
L-40 a day of 23 hours | day | Europe/Paris | 2026-03-29T12:00Z | 2026-03-29 | 2026-03-28T23:00Z | 2026-03-29T22:00Z
L-40 a day of 25 hours | day | Europe/Paris | 2026-10-25T12:00Z | 2026-10-25 | 2026-10-24T22:00Z | 2026-10-25T23:00Z
L-41 a leap day | day | UTC | 2028-02-29T12:00Z | 2028-02-29 | 2028-02-29T00:00Z | 2028-03-01T00:00Z
L-39 the day before a skipped date | day | Pacific/Apia | 2011-12-30T09:59Z | 2011-12-29 | 2011-12-29T10:00Z | 2011-12-30T10:00Z
a week | week | UTC | 2026-11-22T23:59:59.999Z | 2026-W47 | 2026-11-16T00:00Z | 2026-11-23T00:00Z
L-41 week 53 | week | UTC | 2027-01-03T12:00Z | 2026-W53 | 2026-12-28T00:00Z | 2027-01-04T00:00Z
L-41 week 1 of the year after | week | UTC | 2024-12-30T00:00Z | 2025-W01 | 2024-12-30T00:00Z | 2025-01-06T00:00Z
L-41 week 52 of the year before | week | UTC | 2023-01-01T12:00Z | 2022-W52 | 2022-12-26T00:00Z | 2023-01-02T00:00Z
L-41 a week before 1970 | week | UTC | 1969-12-28T12:00Z | 1969-W52 | 1969-12-22T00:00Z | 1969-12-29T00:00Z
L-39 a week without one of its dates | week | Pacific/Apia | 2011-12-30T12:00Z | 2011-W52 | 2011-12-26T10:00Z | 2012-01-01T10:00Z
L-41 a leap February | month | UTC | 2028-02-29T23:59:59.999Z | 2028-02 | 2028-02-01T00:00Z | 2028-03-01T00:00Z
a month of a zone | month | America/New_York | 2026-12-01T04:59Z | 2026-11 | 2026-11-01T04:00Z | 2026-12-01T05:00Z
L-41 the last instant of a quarter | quarter | UTC | 2026-03-31T23:59:59.999Z | 2026-Q1 | 2026-01-01T00:00Z | 2026-04-01T00:00Z
L-41 the first instant of a quarter | quarter | UTC | 2026-10-01T00:00Z | 2026-Q4 | 2026-10-01T00:00Z | 2027-01-01T00:00Z
a year | year | Asia/Tokyo | 2026-12-31T15:00Z | 2027 | 2026-12-31T15:00Z | 2027-12-31T15:00Z
`;

for (const row of PERIODS.trim().split('\n')) {
  const [what, kind, timeZone = '', instant = '', key, start = '', end = ''] = row.split(' | ');
  const options = zoned(kind as CalendarKind, timeZone);
  void test(`${what}: ${instant} lies in ${key} in ${timeZone}`, () => {
    const period = periodAt(at(instant), options);
    assert.deepEqual([period.key, period.start, period.end], [key, at(start), at(end)]);
    assert.deepEqual(periodAt(period.start, options), period);
    assert.equal(previousPeriod(period, options).end.getTime(), period.start.getTime());
    assert.equal(nextPeriod(period, options).start.getTime(), period.end.getTime());
  });
}

void test('a month begins at the start of its first business date, and has that business date', () => {
  const options = zoned('month', 'Europe/Paris', '06:00');
  const early = periodAt(at('2026-11-01T04:59:59.999Z'), options);
  assert.deepEqual([early.key, early.businessDate], ['2026-10', '2026-10-01']);
  const period = periodAt(at('2026-11-01T05:00:00Z'), options);
  assert.deepEqual([period.key, period.businessDate], ['2026-11', '2026-11-01']);
  assert.deepEqual([period.start, period.end], [at('2026-11-01T05:00:00Z'), at('2026-12-01T05:00:00Z')]);
});

void test('the dates of a period are new ones, which the caller may change', () => {
  const day = zoned('day', 'Europe/Paris');
  const noon = at('2026-11-20T12:00Z');
  const { start, end } = periodAt(noon, day);
  start.setTime(0);
  end.setTime(0);
  assert.deepEqual(periodAt(noon, day).start, at('2026-11-19T23:00Z'));
  assert.deepEqual(periodAt(noon, day).end, at('2026-11-20T23:00Z'));
});

void test('an hour belongs to the business date in which it begins', () => {
  const options = zoned('hour', 'UTC', '02:30');
  assert.equal(periodAt(at('2026-11-20T02:45Z'), options).businessDate, '2026-11-19');
  assert.equal(periodAt(at('2026-11-20T03:00Z'), options).businessDate, '2026-11-20');
});

void test(`target 'previous' counts a run for the period before, for every kind`, () => {
  const tuesday = at('2026-11-24T03:00:00Z');
  const expected: [CalendarKind, string][] = [
    ['hour', '2026-11-24T02+0000'],
    ['day', '2026-11-23'],
    ['week', '2026-W47'],
    ['month', '2026-10'],
    ['quarter', '2026-Q3'],
    ['year', '2025'],
  ];
  for (const [kind, key] of expected)
    assert.equal(periodAt(tuesday, { kind, timeZone: 'UTC', target: 'previous' }).key, key);
});

void test(`target 'previous' and the neighbours of a period pass over a skipped date (L-39)`, () => {
  const options = zoned('day', 'Pacific/Apia');
  const after = periodAt(at('2011-12-30T12:00:00Z'), options);
  const before = periodAt(at('2011-12-30T12:00:00Z'), { ...options, target: 'previous' });
  assert.deepEqual([before.key, after.key], ['2011-12-29', '2011-12-31']);
  assert.deepEqual(previousPeriod(after, options), before);
  assert.deepEqual(nextPeriod(before, options), after);
});

void test('the periods between two instants are all that overlap the interval, the earliest first', () => {
  const keys = (from: string, to: string, options: CalendarPeriodOptions): string[] =>
    periodsBetween(at(from), at(to), options).map(({ key }) => key);
  const days = zoned('day', 'UTC');
  assert.deepEqual(keys('2026-11-20T12:00Z', '2026-11-22T00:00Z', days), ['2026-11-20', '2026-11-21']);
  assert.deepEqual(keys('2026-11-20T12:00Z', '2026-11-22T00:00:00.001Z', days).at(-1), '2026-11-22');
  assert.deepEqual(keys('2026-11-20T00:00Z', '2026-11-20T00:00Z', days), []);
  assert.deepEqual(keys('2026-11-21T00:00Z', '2026-11-20T00:00Z', days), []);
  assert.deepEqual(keys('2011-12-29T12:00Z', '2012-01-01T00:00Z', zoned('day', 'Pacific/Apia')), [
    '2011-12-29',
    '2011-12-31',
    '2012-01-01',
  ]);
  assert.deepEqual(keys('2026-11-01T04:30Z', '2026-11-01T07:30Z', zoned('hour', 'America/New_York')), [
    '2026-11-01T00-0400',
    '2026-11-01T01-0400',
    '2026-11-01T01-0500',
    '2026-11-01T02-0500',
  ]);
});
