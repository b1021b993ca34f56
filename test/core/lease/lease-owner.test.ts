import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LockStorageError } from 'cronlatch';
import { LeaseOwner } from '#cronlatch/core/lease/owner';
import { JOB, lockBench, turn } from '../../support/benches/lock';
import { refusedConnection, replyLost, sendingLost, sentLate } from '../../support/faults/accessor';

void test('an extension that arrives after its successor was confirmed does not shorten the lease (P2, F-41, F-56)', async () => {
  const { accessor, clock, other, granted, drive } = lockBench();
  const lock = await granted();
  const late = sentLate(accessor, 'extend');
  assert.equal(await drive(lock.extend('4s')), true);
  assert.equal(await lock.extend('10m'), true);
  assert.equal(await late.arrive(), false);
  clock.advance('5s');
  assert.equal(lock.signal.aborted, false);
  assert.equal(await other.lock(JOB), undefined);
  assert.equal(await lock.unlock(), true);
});

void test('the holder does not trust the lease for longer than a shorter extension that took effect late (P2)', async () => {
  const { accessor, clock, store, granted, drive } = lockBench();
  const lock = await granted();
  const late = sentLate(accessor, 'extend');
  accessor.fail('extend', refusedConnection);
  await assert.rejects(drive(lock.extend('1m')), { outcome: 'nothing-ran' });
  assert.equal(await late.arrive(), true);
  const record = await store.find(JOB.name);
  assert.ok(record);
  assert.ok(clock.wallMs() + lock.remainingMs() <= record.lockUntil.getTime());
});

void test('a renewal continues from a late one that has taken effect in between (P2)', async () => {
  const { accessor, clock, granted, other } = lockBench();
  const lock = await granted({ ...JOB, keepAlive: true });
  const late = sentLate(accessor, 'extend');
  clock.advance('200s');
  await turn();
  assert.equal(await late.arrive(), true);
  for (let minute = 0; minute < 30; minute += 1) {
    clock.advance('1m');
    await turn();
  }
  assert.equal(lock.signal.aborted, false);
  assert.equal(await other.lock(JOB), undefined);
  assert.equal(await lock.unlock(), true);
});

void test('an extension whose reply was lost counts from its own sending, not from the read that finds its outcome (P2)', async () => {
  const { accessor, clock, granted, drive } = lockBench();
  const lock = await granted();
  accessor.fail('extend', replyLost);
  accessor.delay('find', () => clock.stall('2s'));
  assert.equal(await drive(lock.extend('10m')), true);
  assert.ok(lock.remainingMs() <= 598_000);
});

void test('an extension is lost if its reply was lost and another holder then took over', async () => {
  const { accessor, clock, store, other, granted, drive } = lockBench();
  const lock = await granted();
  accessor.fail('extend', async (run) => {
    await run();
    store.delete(JOB.name);
    assert.ok(await other.lock(JOB));
    throw new LockStorageError('reply lost', { outcome: 'unknown' });
  });
  assert.equal(await drive(lock.extend('10m')), false);
  assert.equal(lock.signal.aborted, true);
  assert.equal(await lock.unlock(), false);
  clock.advance('9m');
  assert.equal(await other.lock(JOB), undefined);
});

for (const [what, lastOutcome] of [
  ['took effect', replyLost],
  ['did not take effect', sendingLost],
] as const) {
  void test(`a release after an extension that failed, and ${what}, frees the lock (P6)`, async () => {
    const { accessor, other, granted, drive } = lockBench();
    const lock = await granted();
    accessor.fail('extend', lastOutcome, refusedConnection);
    await assert.rejects(drive(lock.extend('20m')), { outcome: 'nothing-ran' });
    assert.equal(await lock.unlock(), true);
    assert.ok(await other.lock(JOB));
  });
}

void test('a release whose reply was lost still returns true after an extension that took effect without a reply (P6)', async () => {
  const { accessor, other, granted, drive } = lockBench();
  const lock = await granted();
  accessor.fail('extend', replyLost, refusedConnection);
  await assert.rejects(drive(lock.extend('20m')), { outcome: 'nothing-ran' });
  accessor.fail('unlock', sendingLost, replyLost);
  assert.equal(await drive(lock.unlock()), true);
  assert.ok(await other.lock(JOB));
});

void test('an extension that arrives after the release changes nothing (P6)', async () => {
  const { accessor, other, granted, drive } = lockBench();
  const lock = await granted();
  const late = sentLate(accessor, 'extend');
  accessor.fail('extend', refusedConnection);
  await assert.rejects(drive(lock.extend('20m')), { outcome: 'nothing-ran' });
  assert.equal(await lock.unlock(), true);
  assert.equal(await late.arrive(), false);
  assert.ok(await other.lock(JOB));
});

void test('an extension and a release with a reply are one statement each', async () => {
  const { accessor, granted } = lockBench();
  const lock = await granted();
  accessor.calls.length = 0;
  assert.equal(await lock.extend('10m'), true);
  assert.equal(await lock.extend('20m'), true);
  assert.equal(await lock.unlock(), true);
  assert.deepEqual(accessor.calls, ['extend', 'extend', 'unlock']);
});

void test('the owner of another program keeps a number at its end, so that no other owner is taken for it', () => {
  const owner = LeaseOwner.asRead('java-1/17');
  const record = { held: true, lockUntil: new Date(1), fencingToken: undefined };
  assert.equal(owner.stateOf({ ...record, lockedBy: 'java-1/17' }), 'held');
  assert.equal(owner.stateOf({ ...record, lockedBy: 'java-1/18' }), 'not-ours');
});
