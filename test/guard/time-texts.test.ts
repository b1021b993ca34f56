import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedZone, shortTime, spokenTime } from '#cronlatch/guard/log/time-texts';

const NOW = new Date('2026-11-26T11:00:00Z');

for (const [instant, zone, text] of [
  ['2026-11-26T02:00:00Z', 'Europe/Paris', '03:00'],
  ['2026-11-25T23:30:00Z', 'Europe/Paris', '00:30'],
  ['2026-11-25T23:30:00Z', 'UTC', 'Wed 23:30'],
  ['2026-11-27T02:00:00Z', 'Europe/Paris', 'Fri 03:00'],
  ['2026-11-28T02:00:00Z', 'Europe/Paris', '28 Nov 03:00'],
  ['2026-09-28T01:00:00Z', 'Europe/Paris', '28 Sep 03:00'],
  ['2026-11-19T11:00:00Z', 'Europe/Paris', '19 Nov 12:00'],
  ['2026-12-03T11:00:00Z', 'Europe/Paris', '3 Dec 12:00'],
  ['2025-11-26T11:00:00Z', 'Europe/Paris', '26 Nov 2025'],
  ['2026-10-25T00:30:00Z', 'Europe/Paris', '25 Oct 02:30+02:00'],
  ['2026-10-25T01:30:00Z', 'Europe/Paris', '25 Oct 02:30+01:00'],
  ['2026-10-25T02:30:00Z', 'Europe/Paris', '25 Oct 03:30'],
  ['2026-11-26T02:00:00Z', 'Mars/Phobos', '02:00'],
] as const)
  void test(`a table shows ${instant} in ${zone} as ${text}`, () => {
    assert.equal(shortTime(new Date(instant), zone, NOW), text);
  });

void test('behind a verb, a time has its prepositions', () => {
  for (const [instant, text] of [
    ['2026-11-26T02:00Z', 'at 03:00'],
    ['2026-11-25T02:00Z', 'on Wed at 03:00'],
    ['2026-10-26T02:00Z', 'on 26 Oct at 03:00'],
    ['2025-11-25T02:00Z', 'on 25 Nov 2025 at 03:00'],
    ['2026-11-26T10:50:05Z', 'at 11:50:05'],
  ] as const)
    assert.equal(spokenTime(new Date(instant), 'Europe/Paris', NOW), text);
});

void test('the zone of several jobs is theirs if they agree, and one that this host knows', () => {
  const [paris, other] = ['Europe/Paris', 'Asia/Tokyo'];
  assert.equal(sharedZone([paris, undefined, paris], other), paris);
  assert.equal(sharedZone([paris, 'UTC'], other), other);
  assert.equal(sharedZone([], other), other);
  assert.equal(sharedZone(['Asia/Kolkata'], other), 'Asia/Kolkata', 'as it was declared');
  assert.equal(sharedZone(['Mars/Phobos'], other), 'UTC');
});

void test('a time that cannot be read is a dash, as in a row that another program has written', () => {
  const unreadable = new Date(NaN);
  assert.deepEqual([shortTime(unreadable, 'UTC', NOW), spokenTime(unreadable, 'UTC', NOW)], ['-', 'at -']);
  assert.equal(spokenTime(undefined, 'UTC', NOW), 'at an unknown time');
});
