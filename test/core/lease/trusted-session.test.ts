import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import { momentOf, type Deadline } from '#cronlatch/core/clock';
import { TrustedSession } from '#cronlatch/core/lease/trusted-session';
import { SettableClock } from 'cronlatch/testing';

/** A session that is proved every second and trusted for five. A test answers its proofs. */
function trusted() {
  const clock = new SettableClock();
  const proofs: { answer: (reason?: string) => void; endsAtMs: number }[] = [];
  const reasons: string[] = [];
  const session = new TrustedSession(
    {
      clock,
      intervalMs: () => 1000,
      trustedForMs: () => 5000,
      describeExpiry: () => 'the server has not confirmed it for 5000 ms',
      send: ({ monotonicMs: endsAtMs }: Deadline) =>
        new Promise((answer) => void proofs.push({ answer, endsAtMs })),
      onLost(reason) {
        reasons.push(reason);
        session.stop();
      },
    },
    momentOf(clock),
  );
  return { clock, session, proofs, reasons };
}

void test('a session is proved every second, one proof at a time', async () => {
  const { clock, session, proofs, reasons } = trusted();
  clock.advance('999ms');
  assert.equal(proofs.length, 0);
  clock.advance('1ms');
  clock.advance('3s');
  const proving = session.prove();
  assert.equal(proofs.length, 1);
  proofs[0]?.answer();
  assert.equal(await proving, true);
  clock.advance(1);
  assert.equal(proofs.length, 2);
  session.stop();
  clock.advance('1h');
  assert.equal(proofs.length, 2);
  assert.deepEqual(reasons, []);
});

void test('trust counts from the sending of the last confirmed proof', async () => {
  const { clock, session, proofs } = trusted();
  clock.advance('1s');
  clock.advance('3s');
  proofs[0]?.answer();
  await setImmediate();
  clock.stall('1999ms');
  assert.equal(session.expiryReason(), undefined);
  clock.stall('1ms');
  assert.equal(session.expiryReason(), 'the server has not confirmed it for 5000 ms');
  session.stop();
  assert.equal(session.expiryReason(), undefined);
});

void test('a statement that proves the session prolongs the trust', () => {
  const { clock, session } = trusted();
  clock.stall('3s');
  session.trustFrom(momentOf(clock));
  clock.stall('4999ms');
  assert.equal(session.expiryReason(), undefined);
  clock.stall('1ms');
  assert.notEqual(session.expiryReason(), undefined);
  session.stop();
});

void test('a process that was stopped finds its lock lost before it sends another proof', () => {
  const { clock, proofs, reasons } = trusted();
  clock.stall('6s');
  clock.advance(0);
  assert.equal(reasons.length, 1);
  assert.equal(proofs.length, 0);
});

void test('a failed proof loses the lock once, and its limit is the end of the trust', async () => {
  const { clock, session, proofs, reasons } = trusted();
  const startMs = clock.monotonicMs();
  clock.advance('1s');
  assert.equal(proofs[0]?.endsAtMs, startMs + 5000);
  proofs[0].answer('read ECONNRESET');
  await setImmediate();
  assert.equal(await session.prove(), false);
  assert.deepEqual(reasons, ['read ECONNRESET']);
});
