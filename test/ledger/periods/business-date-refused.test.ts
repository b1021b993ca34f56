import assert from 'node:assert/strict';
import { test } from 'node:test';
import { businessDateAt, startOfBusinessDate } from '#cronlatch/ledger/periods/business-date';
import { refused } from '../../support/checks/refused';

const NOON = new Date('2026-11-20T12:00:00Z');

void test('an alias means the zone that it stands for, and case does not matter (L-42)', () => {
  for (const [one, other] of [
    ['Asia/Calcutta', 'Asia/Kolkata'],
    ['US/Eastern', 'America/New_York'],
    ['Europe/Kiev', 'Europe/Kyiv'],
    ['etc/utc', 'UTC'],
    ['GMT', 'UTC'],
    ['EUROPE/PARIS', 'Europe/Paris'],
  ] as const) {
    const options = { dayStart: '12:00' };
    assert.deepEqual(
      startOfBusinessDate('2026-07-01', { ...options, timeZone: one }),
      startOfBusinessDate('2026-07-01', { ...options, timeZone: other }),
    );
  }
  assert.equal(businessDateAt(NOON, { timeZone: 'Etc/GMT+12' }), '2026-11-20');
  assert.equal(businessDateAt(NOON, { timeZone: 'Etc/GMT-14' }), '2026-11-21');
});

for (const timeZone of [
  '',
  'Europe/Pari',
  'Mars/Olympus',
  'local',
  ' UTC',
  'UTC ',
  'Asia/To\u212Ayo',
  'Europe/Paris\0',
]) {
  void test(`time zone ${JSON.stringify(timeZone)} is rejected, and the error has the value and a valid example (L-42)`, () => {
    refused(
      () => businessDateAt(NOON, { timeZone }),
      JSON.stringify(timeZone).slice(1, -1),
      `'Europe/Paris'`,
    );
  });
}

for (const timeZone of ['+05:30', '-0800', '+00:00', 'UTC+1', 'GMT-05:00']) {
  void test(`${timeZone} is rejected, because an offset has no clock changes (L-42)`, () => {
    refused(() => businessDateAt(NOON, { timeZone }), timeZone, 'an offset', 'Etc/GMT-1');
  });
}

for (const timeZone of ['BST', 'IST', 'pst', 'ACT'])
  void test(`${timeZone} is rejected, because it is ambiguous (L-42)`, () => {
    refused(() => businessDateAt(NOON, { timeZone }), timeZone, 'Europe/Paris');
  });

for (const timeZone of [undefined, null, 1, {}, Symbol('UTC')])
  void test(`a time zone of type ${typeof timeZone} is rejected: the host's zone is never used instead (L-42)`, () => {
    refused(() => businessDateAt(NOON, { timeZone: timeZone as string }), 'timeZone is');
  });

for (const dayStart of [
  '24:00',
  '7:5',
  '07:5',
  '7:05',
  '12:60',
  '-01:00',
  '12:00:00',
  'noon',
  '',
  7,
  null,
  Symbol('x'),
])
  void test(`a day start of ${String(dayStart)} is rejected`, () => {
    refused(
      () => businessDateAt(NOON, { timeZone: 'UTC', dayStart: dayStart as string }),
      'dayStart is',
      `'23:59'`,
    );
  });

for (const date of [
  '2026-02-30',
  '2026-13-01',
  '2026-00-10',
  '2026-1-1',
  '20261120',
  '2026-11-20T00:00',
  '0999-01-01',
  '12026-01-01',
  '',
  20261120,
  null,
])
  void test(`business date ${String(date)} is rejected`, () => {
    refused(
      () => startOfBusinessDate(date as string, { timeZone: 'UTC' }),
      'the business date is',
      'YYYY-MM-DD',
    );
  });

for (const instant of [new Date(NaN), 0, '2026-11-20', null, undefined])
  void test(`instant ${String(instant)} of type ${typeof instant} is rejected`, () => {
    refused(() => businessDateAt(instant as Date, { timeZone: 'UTC' }), 'is not an instant');
  });

void test('an instant whose year a store cannot keep has no business date', () => {
  for (const year of ['-002000', '0999', '+010000'])
    refused(() => businessDateAt(new Date(`${year}-06-01T00:00:00Z`), { timeZone: 'UTC' }), '1000 and 9999');
  assert.equal(businessDateAt(new Date('9999-12-31T23:59:59.999Z'), { timeZone: 'UTC' }), '9999-12-31');
  assert.deepEqual(startOfBusinessDate('1000-01-01', { timeZone: 'UTC' }), new Date('1000-01-01T00:00:00Z'));
});
