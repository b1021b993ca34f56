import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  nextPeriod,
  periodAt,
  periodsBetween,
  previousPeriod,
  type CalendarKind,
} from '#cronlatch/ledger/periods/period';
import { sampleSize } from '../../support/checks/sample-size';

const NUM_RUNS = sampleSize({ fast: 500, full: 50_000 });

const options = fc.record({
  kind: fc.constantFrom<CalendarKind[]>('hour', 'day', 'week', 'month', 'quarter', 'year'),
  timeZone: fc.constantFrom(...Intl.supportedValuesOf('timeZone')),
  dayStart: fc.constantFrom('00:00', '00:30', '01:30', '02:30', '06:00', '23:59'),
});
const instants = fc.date({ min: new Date('1972-01-02'), max: new Date('2099-12-30'), noInvalidDate: true });

void test('in every zone, the periods of every kind follow one another without gap or overlap (L-41)', () => {
  fc.assert(
    fc.property(instants, options, (instant, options) => {
      const period = periodAt(instant, options);
      assert.ok(period.start <= instant && instant < period.end);
      assert.deepEqual(periodAt(new Date(period.end.getTime() - 1), options), period);
      const [previous, next] = [previousPeriod(period, options), nextPeriod(period, options)];
      assert.deepEqual([previous.end, next.start], [period.start, period.end]);
      assert.equal(new Set([previous, period, next].map(({ key }) => key)).size, 3);
      assert.ok(previous.businessDate <= period.businessDate && period.businessDate <= next.businessDate);
      assert.deepEqual(periodsBetween(previous.start, next.end, options), [previous, period, next]);
    }),
    { numRuns: NUM_RUNS },
  );
});

void test('weeks follow ISO 8601: the first week of a year contains the fourth of January (L-41)', () => {
  for (let year = 1972; year <= 2100; year++) {
    const week = periodAt(new Date(Date.UTC(year, 0, 4)), { kind: 'week', timeZone: 'UTC' });
    assert.equal(week.key, `${year}-W01`);
    assert.equal(week.start.getUTCDay(), 1);
    // The last week is the one before the next year's first.
    const last = periodAt(new Date(Date.UTC(year, 11, 28)), { kind: 'week', timeZone: 'UTC' });
    const count = Math.round((last.end.getTime() - week.start.getTime()) / (7 * 86_400_000));
    assert.equal(last.key, `${year}-W${count}`);
  }
});
