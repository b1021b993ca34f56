import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeClock } from '#cronlatch/storage/sql/doctor/session';

void test('a difference of clocks counts as far as the round trip cannot explain it', () => {
  for (const offsetMs of [900, -900, 1400, -1400])
    assert.deepEqual(judgeClock({ offsetMs, uncertaintyMs: 500 }), []);
});

/** Offsets with the severity and the description of each. */
const OFFSETS: readonly (readonly [number, string, string, RegExp])[] = [
  [1600, 'clock-offset', 'warning', /^The clock of this machine is 1\.6 s behind the server's\./],
  [-1600, 'clock-offset', 'warning', /^The clock of this machine is 1\.6 s ahead of the server's\./],
  [299_000, 'clock-offset', 'warning', / 299\.0 s behind /],
  [-301_000, 'clock-wrong', 'error', / 301\.0 s ahead of /],
];

for (const [offsetMs, code, severity, problem] of OFFSETS)
  void test(`an offset of ${offsetMs} ms is reported as ${severity} ${code}`, () => {
    const [finding] = judgeClock({ offsetMs, uncertaintyMs: 100 });
    assert.deepEqual([finding?.code, finding?.severity], [code, severity]);
    assert.match(finding?.problem ?? '', problem);
  });
