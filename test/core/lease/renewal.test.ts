import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { planRenewal, type RenewalState } from '#cronlatch/core/lease/lease';

const STATE: RenewalState = {
  nowMs: 0,
  confirmedAtMs: 0,
  failuresSince: 0,
  renewEveryMs: 10_000,
  deadlineMs: 30_000,
  holdUntilMs: 86_400_000,
};

void test('a lease is renewed when a third of it has passed since the last confirmed statement was sent', () => {
  assert.deepEqual(planRenewal(STATE), { action: 'renew', inMs: 10_000 });
  assert.deepEqual(planRenewal({ ...STATE, nowMs: 4000 }), { action: 'renew', inMs: 6000 });
});

void test('an overdue renewal is due at once', () => {
  assert.deepEqual(planRenewal({ ...STATE, nowMs: 15_000 }), { action: 'renew', inMs: 0 });
});

void test('a failed renewal is retried soon, then less often, but never less often than a successful one', () => {
  const delays = [1, 2, 3, 4, 5, 6].map((failuresSince) => planRenewal({ ...STATE, failuresSince }));
  assert.deepEqual(
    delays.map((plan) => (plan.action === 'renew' ? plan.inMs : 'stop')),
    [1000, 2000, 4000, 8000, 10_000, 10_000],
  );
});

void test('no renewal is planned after the deadline', () => {
  assert.deepEqual(planRenewal({ ...STATE, nowMs: 29_500, failuresSince: 1 }), { action: 'stop' });
});

void test('a lease that has reached maxLockDuration is not renewed', () => {
  assert.deepEqual(planRenewal({ ...STATE, holdUntilMs: 30_000 }), { action: 'stop' });
});

void test('in every state, a planned renewal lies between now and the deadline', () => {
  const ms = fc.integer({ min: 0, max: 1_000_000 });
  fc.assert(
    fc.property(
      ms,
      ms,
      fc.nat(80),
      fc.integer({ min: 1, max: 100_000 }),
      ms,
      ms,
      (now, confirmed, failuresSince, renewEveryMs, left, hold) => {
        const nowMs = Math.max(now, confirmed);
        const plan = planRenewal({
          nowMs,
          confirmedAtMs: confirmed,
          failuresSince,
          renewEveryMs,
          deadlineMs: nowMs + left,
          holdUntilMs: nowMs + hold,
        });
        if (plan.action === 'renew')
          assert.ok(plan.inMs >= 0 && plan.inMs <= left && Number.isFinite(plan.inMs));
      },
    ),
  );
});
