import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import { momentOf } from '#cronlatch/core/clock';
import { Heartbeat } from '#cronlatch/storage/sql/row-lock/held-row';
import { SettableClock } from 'cronlatch/testing';

/** A heartbeat whose pings a test answers. */
function heartbeat(clock: SettableClock) {
  const pings: { answer: () => void; fail: (error: Error) => void; endsAtMs: number }[] = [];
  const reasons: string[] = [];
  const ping = (endsAtMs: number): Promise<void> =>
    new Promise((answer, fail) => void pings.push({ answer, fail, endsAtMs }));
  const beating = new Heartbeat(clock, momentOf(clock), ping, (reason) => void reasons.push(reason));
  return { beating, pings, reasons };
}

void test('a ping is sent every second, one at a time', async () => {
  const clock = new SettableClock();
  const { beating, pings, reasons } = heartbeat(clock);
  clock.advance('999ms');
  assert.equal(pings.length, 0);
  clock.advance('1ms');
  clock.advance('3s');
  assert.equal(pings.length, 1);
  pings[0]?.answer();
  await setImmediate();
  clock.advance(1);
  assert.equal(pings.length, 2);
  beating.stop();
  clock.advance('1h');
  assert.equal(pings.length, 2);
  assert.deepEqual(reasons, []);
});

void test('trust counts from the sending of the last confirmed ping', async () => {
  const clock = new SettableClock();
  const { beating, pings } = heartbeat(clock);
  clock.advance('1s');
  clock.advance('3s');
  pings[0]?.answer();
  await setImmediate();
  clock.stall('1999ms');
  assert.equal(beating.expiryReason(), undefined);
  clock.stall('1ms');
  assert.match(beating.expiryReason() ?? '', /not confirmed its transaction for 5000 ms/);
  beating.stop();
});

void test('a process that was stopped finds its lock lost before it sends another ping', () => {
  const clock = new SettableClock();
  const { pings, reasons } = heartbeat(clock);
  clock.stall('6s');
  clock.advance(0);
  assert.equal(reasons.length, 1);
  assert.equal(pings.length, 0);
});

void test('a failed ping loses the lock once, and its limit is the end of the trust', async () => {
  const clock = new SettableClock();
  const { beating, pings, reasons } = heartbeat(clock);
  const startMs = clock.monotonicMs();
  clock.advance('1s');
  assert.equal(pings[0]?.endsAtMs, startMs + 5000);
  pings[0].fail(new Error('read ECONNRESET'));
  await setImmediate();
  assert.equal(await beating.confirm(), false);
  assert.deepEqual(reasons, ['its transaction has ended: read ECONNRESET']);
});
