import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockConfigurationError } from 'cronlatch';
import { parseStartDeadline, isPastStartDeadline } from '#cronlatch/ledger/policy/job-policy';

const OF = `of job 'close-day'`;
const scheduledAt = new Date('2026-11-20T00:00:00Z');
const sixHours = parseStartDeadline('6h', OF);

void test('a first attempt may start until the deadline, and no later (L-33)', () => {
  assert.equal(
    isPastStartDeadline(sixHours, { now: new Date('2026-11-20T06:00:00.000Z'), scheduledAt }),
    false,
  );
  assert.equal(
    isPastStartDeadline(sixHours, { now: new Date('2026-11-20T06:00:00.001Z'), scheduledAt }),
    true,
  );
});

void test('without a startDeadline, a first attempt may always start (L-33)', () => {
  const now = new Date('2036-11-20T00:00:00Z');
  assert.equal(parseStartDeadline(undefined, OF), undefined);
  assert.equal(isPastStartDeadline(undefined, { now, scheduledAt }), false);
  assert.equal(isPastStartDeadline(sixHours, { now, scheduledAt: undefined }), false);
});

void test('an invalid startDeadline is rejected (L-33)', () => {
  for (const value of [0, -1, 'noon', '366d'])
    assert.throws(() => parseStartDeadline(value, OF), InvalidLockConfigurationError);
});
