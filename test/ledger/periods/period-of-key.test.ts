import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { InvalidLockUseError } from 'cronlatch';
import { periodAt, type CalendarPeriodOptions, type CalendarKind } from '#cronlatch/ledger/periods/period';
import { periodOfKey } from '#cronlatch/ledger/periods/period-of-key';
import { sampleSize } from '../../support/checks/sample-size';

const NUM_RUNS = sampleSize({ fast: 1000, full: 50_000 });

const KINDS: readonly CalendarKind[] = ['hour', 'day', 'week', 'month', 'quarter', 'year'];

const options = fc.record({
  kind: fc.constantFrom(...KINDS),
  timeZone: fc.constantFrom(...Intl.supportedValuesOf('timeZone'), 'Etc/GMT+12', 'Etc/GMT-14'),
  dayStart: fc.constantFrom('00:00', '01:30', '06:00', '18:00', '23:59'),
});
const instants = fc.date({ min: new Date('1972-01-02'), max: new Date('2099-12-30'), noInvalidDate: true });

void test('a key identifies its period, for every kind, zone and day start', () => {
  fc.assert(
    fc.property(instants, options, (instant, options) => {
      const period = periodAt(instant, options);
      assert.deepEqual(periodOfKey(period.key, options), period);
    }),
    { numRuns: NUM_RUNS },
  );
});

/** Case | key | zone | day start */
const FOUND: readonly [string, string, string, string][] = [
  ['the repeated hour, once (L-40)', '2026-11-01T01-0400', 'America/New_York', '00:00'],
  ['the repeated hour, again (L-40)', '2026-11-01T01-0500', 'America/New_York', '00:00'],
  ['an hour that is cut short at its end (L-40)', '2026-04-05T01+1100', 'Australia/Lord_Howe', '00:00'],
  ['an hour that begins in its middle (L-40)', '2026-10-04T02+1100', 'Australia/Lord_Howe', '00:00'],
  ['an hour of a zone with seconds (L-40)', '1972-01-05T00-004430', 'Africa/Monrovia', '00:00'],
  ['a day that begins in the evening, in the west', '2026-11-20', 'America/Los_Angeles', '18:00'],
  ['a day that begins a date later', '2026-11-20', 'Etc/GMT+12', '23:59'],
  ['a day that begins on the UTC date before', '2026-11-20', 'Pacific/Kiritimati', '00:00'],
  ['the day after a skipped date (L-39)', '2011-12-31', 'Pacific/Apia', '00:00'],
  ['a week that begins on the fourth of January', '2027-W01', 'America/Los_Angeles', '18:00'],
  ['week 53 (L-41)', '2026-W53', 'UTC', '00:00'],
];

function kindOf(key: string): CalendarKind {
  return key.includes('T') ? 'hour' : key.includes('W') ? 'week' : 'day';
}

for (const [what, key, timeZone, dayStart] of FOUND) {
  void test(`${what}: ${key} of ${timeZone} is found`, () => {
    assert.equal(periodOfKey(key, { kind: kindOf(key), timeZone, dayStart }).key, key);
  });
}

void test(`a key identifies its own period, even if runs count for the period before`, () => {
  const options = { kind: 'day', timeZone: 'UTC', target: 'previous' } as const;
  assert.equal(periodOfKey('2026-11-20', options).key, '2026-11-20');
});

/** Why it is rejected | key | kind | zone */
const REFUSED: readonly [string, string, CalendarKind, string?][] = [
  ['empty', '', 'day'],
  ['a word', 'today', 'day'],
  ['not a date of the calendar', '2026-02-30', 'day'],
  ['no month', '2026-13', 'month'],
  ['padded', ' 2026-11-20', 'day'],
  ['short', '2026-1-2', 'day'],
  ['an instant', '2026-11-20T00:00:00Z', 'day'],
  ['a key of another kind', '2026-11', 'day'],
  ['a key of another kind', '2026-11-20', 'hour'],
  ['a key of another kind', '2026', 'quarter'],
  ['a week number too high', '2025-W53', 'week'],
  ['week 0', '2026-W00', 'week'],
  ['no quarter', '2026-Q5', 'quarter'],
  ['an hour that was skipped', '2026-03-08T02-0500', 'hour', 'America/New_York'],
  ['an hour with the offset of the other half of the year', '2026-07-01T02-0500', 'hour', 'America/New_York'],
  ['hour 24', '2026-11-20T24+0000', 'hour'],
  ['a date that its zone skipped', '2011-12-30', 'day', 'Pacific/Apia'],
  ['a year that no store can keep', '0999', 'year'],
  ['a date that no store can keep', '0001-01-01', 'day'],
];

for (const [why, key, kind, timeZone = 'UTC'] of REFUSED) {
  void test(`${JSON.stringify(key)} is rejected as a key of a ${kind} in ${timeZone}: ${why}`, () => {
    assert.throws(
      () => periodOfKey(key, { kind, timeZone } satisfies CalendarPeriodOptions),
      (error) => error instanceof InvalidLockUseError && error.message.includes(`'${kind}' in ${timeZone}`),
    );
  });
}
