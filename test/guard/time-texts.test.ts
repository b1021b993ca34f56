import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shortTime, zoneShown } from '#cronlatch/guard/log/time-texts';

const NOW = new Date('2026-11-26T11:00:00Z');

for (const [instant, zone, text] of [
  ['2026-11-26T02:00:00Z', 'Europe/Paris', '03:00'],
  ['2026-11-25T23:30:00Z', 'Europe/Paris', '00:30'],
  ['2026-11-25T23:30:00Z', 'UTC', 'Wed 23:30'],
  ['2026-11-28T02:00:00Z', 'Europe/Paris', 'Sat 03:00'],
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

void test('the zone of short times is one that this host knows', () => {
  assert.deepEqual(['Europe/Paris', 'Mars/Phobos'].map(zoneShown), ['Europe/Paris', 'UTC']);
});
