import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JOB, lockBench } from '../../support/benches/lock';

void test('a lease can be extended repeatedly, each time from now (F-82)', async () => {
  const { clock, granted } = lockBench();
  const lock = await granted();
  for (const minutes of [5, 1, 20]) {
    assert.equal(await lock.extend(`${minutes}m`), true);
    assert.equal(lock.remainingMs(), minutes * 60_000);
    clock.advance('30s');
  }
});

void test('lockAtLeastFor counts from the grant, regardless of how often the lease is extended (F-82)', async () => {
  const { clock, other, granted } = lockBench();
  const lock = await granted({ ...JOB, lockAtLeastFor: '5m' });
  clock.advance('4m');
  assert.equal(await lock.extend('10m'), true);
  assert.equal(await lock.unlock(), true);
  assert.equal(await other.lock(JOB), undefined);
  clock.advance('1m');
  assert.ok(await other.lock(JOB));
});

void test('after its release or its end a lease is not extended, and no statement is sent (F-82)', async () => {
  const { accessor, clock, granted } = lockBench();
  const released = await granted();
  await released.unlock();
  const over = await granted({ ...JOB, name: 'over' });
  clock.stall('11m');
  accessor.calls.length = 0;
  assert.equal(await released.extend('10m'), false);
  assert.equal(await over.extend('10m'), false);
  assert.deepEqual(accessor.calls, []);
});

void test('a second release returns the same result without a statement, and does not affect the next holder (F-82)', async () => {
  const { accessor, other, granted } = lockBench();
  const lock = await granted();
  assert.equal(await lock.unlock(), true);
  const next = await other.lock(JOB);
  accessor.calls.length = 0;
  assert.equal(await lock.unlock(), true);
  assert.deepEqual(accessor.calls, []);
  assert.equal(await next?.extend('10m'), true);
});

void test('a holder whose lock was given to another returns false, and changes nothing (F-83)', async () => {
  const { store, clock, other, granted } = lockBench();
  const lock = await granted();
  // By an operator, while the holder still trusts its lease.
  store.delete('job');
  const next = await other.lock(JOB);
  assert.ok(next);
  const record = await store.find('job');
  assert.equal(await lock.unlock(), false);
  assert.deepEqual(await store.find('job'), record);
  clock.advance('1m');
  assert.equal(await next.unlock(), true);
});
