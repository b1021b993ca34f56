import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RegisteredJob } from 'cronlatch/provider';
import { lifeOf } from '#cronlatch/operations/why';
import { dailyJob } from '../cli/year-of-runs';

const NOW = new Date('2026-11-26T11:00:00Z');
const after = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1000);
const UUID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const DECLARED = { lockAtMostForMs: 60_000, renewEveryMs: 20_000, maxLockDurationMs: 600_000 };

function jobWith(changes = {}): RegisteredJob {
  const registered = { declaredAt: NOW, answeredAt: undefined, registeredAt: NOW };
  return { ...dailyJob('job', { ...DECLARED, ...changes }), ...registered };
}

/** By the seconds at which the lock was granted, and at which its lease ends. */
function lifeWith(
  grantedS: number | undefined,
  endsS: number,
  { number = '', job = jobWith() } = {},
): string {
  const lockedAt = grantedS === undefined ? undefined : after(grantedS);
  const lock = { name: 'job', isHeld: true, lockUntil: after(endsS), lockedAt, fencingToken: 1 };
  return lifeOf({ ...lock, lockedBy: `web-1/17/${UUID}${number}` }, job, NOW).life;
}

void test('a holder is late when a tenth of the lease and 5 s have passed since its renewal was due', () => {
  assert.deepEqual(
    [0, -19, -31, -32].map((seconds) => lifeWith(seconds, 60 + seconds)),
    ['not due', 'not due', 'not due', 'late'],
  );
});

void test('a renewal is seen by the number of the owner, or by a lease that ends later than the first one', () => {
  assert.deepEqual(
    [lifeWith(-100, 50), lifeWith(-10, 50, { number: '/1' }), lifeWith(-100, 50, { number: '/9' })],
    ['renews', 'renews', 'renews'],
  );
});

void test('a store that does not keep when a lock was granted shows late renewals, too', () => {
  assert.deepEqual(
    [lifeWith(undefined, 50), lifeWith(undefined, 20), lifeWith(undefined, 50, { number: '/1' })],
    ['not due', 'late', 'renews'],
  );
});

void test('a lease of another length, and the last one, show nothing', () => {
  assert.deepEqual(
    [lifeWith(-10, 20), lifeWith(-10, 120), lifeWith(-560, 40), lifeWith(-500, 40)],
    ['unknown', 'unknown', 'unknown', 'renews'],
  );
  const once = jobWith({ maxLockDurationMs: 60_000 });
  assert.equal(lifeWith(-10, 50, { job: once }), 'unknown');
});

void test('without renewals, nothing shows whether a holder lives', () => {
  assert.equal(lifeWith(-10, 50, { job: jobWith({ renewEveryMs: undefined }) }), 'not renewed');
});
