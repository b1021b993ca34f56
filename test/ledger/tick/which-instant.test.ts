import assert from 'node:assert/strict';
import { test } from 'node:test';
import { correctedTime, isJustBefore } from '#cronlatch/ledger/tick/ledger-snapshot';

const SCHEDULED = new Date('2026-11-20T03:00:00Z');
const MINUTE_MS = 60_000;

const asked = (skewMs: number) => correctedTime(SCHEDULED, skewMs, 5 * MINUTE_MS);

void test('a clock within maxSkew is trusted; beyond it the time is corrected (L-36)', () => {
  for (const skewMs of [0, 5 * MINUTE_MS, -5 * MINUTE_MS])
    assert.deepEqual(asked(skewMs), { instant: SCHEDULED });
  for (const skewMs of [5 * MINUTE_MS + 1, -5 * MINUTE_MS - 1, 86_400_000]) {
    const { instant, warning } = asked(skewMs);
    assert.equal(instant.getTime(), SCHEDULED.getTime() - skewMs);
    assert.ok(warning?.includes(SCHEDULED.toISOString()) && warning.includes(instant.toISOString()));
  }
});

void test('the warning contains the direction and the size of the skew (L-36)', () => {
  assert.match(asked(600_400).warning ?? '', /600 s ahead of the database's.*synchronized/);
  assert.match(asked(-600_600).warning ?? '', /601 s behind the database's/);
});

void test('the five seconds before a period begins are just before it (L-36)', () => {
  const end = new Date('2026-11-20T23:00:00.000Z');
  const before = (ms: number): Date => new Date(end.getTime() - ms);
  assert.equal(isJustBefore(before(5001), end), false);
  assert.equal(isJustBefore(before(5000), end), true);
  assert.equal(isJustBefore(before(1), end), true);
  assert.equal(isJustBefore(before(1), undefined), false);
});
