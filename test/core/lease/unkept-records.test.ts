import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockConfigurationError, InvalidLockUseError } from 'cronlatch';
import { StorageBasedLockProvider } from 'cronlatch/provider';
import { JOB, lockBench } from '../../support/benches/lock';
import { delayedBy, replyLost, sendingLost, sentLate } from '../../support/faults/accessor';

const UNKEPT = { keepRows: false } as const;
const AT_LEAST = { ...JOB, lockAtLeastFor: '2m' } as const;

void test('a lock costs one insert and one delete, and leaves no record', async () => {
  const { accessor, provider, clock, granted } = lockBench(UNKEPT);
  for (let use = 0; use < 2; use += 1) {
    const lock = await granted();
    clock.advance(1);
    assert.equal(await lock.unlock(), true);
    assert.equal(await provider.inspect(JOB.name), undefined);
  }
  const statements = accessor.calls.filter((call) => call !== 'find');
  assert.deepEqual(statements, ['insertRecord', 'deleteRecord', 'insertRecord', 'deleteRecord']);
});

void test('a held lock is refused after an insert and an update, with one read a minute', async () => {
  const { accessor, provider, clock, granted } = lockBench(UNKEPT);
  await granted();
  accessor.calls.length = 0;
  for (let tick = 0; tick < 3; tick += 1) {
    assert.equal(await provider.lock(JOB), undefined);
    clock.advance('20s');
  }
  const refusal = ['insertRecord', 'updateRecord'];
  assert.deepEqual(accessor.calls, [...refusal, 'find', ...refusal, ...refusal]);
});

void test('the lock of a crashed holder is taken over by an update, and its record goes with the next release', async () => {
  const { provider, other, clock } = lockBench(UNKEPT);
  assert.ok(await other.lock(JOB));
  clock.advance('10m');
  const lock = await provider.lock(JOB);
  clock.advance(1);
  assert.equal(await lock?.unlock(), true);
  assert.equal(await provider.inspect(JOB.name), undefined);
});

void test('a record that is deleted between the insert and the update is inserted', async () => {
  const { accessor, provider, other, clock } = lockBench(UNKEPT);
  const held = await other.lock(JOB);
  clock.advance(1);
  accessor.delay('updateRecord', async () => void (await held?.unlock()));
  assert.ok(await provider.lock(JOB));
});

void test('a record that other processes keep inserting and deleting is contention, and no fault of the store', async () => {
  const { accessor, provider, other, clock, drive } = lockBench(UNKEPT);
  let held = await other.lock(JOB);
  const take = delayedBy(async () => void (held = await other.lock(JOB)));
  const release = delayedBy(async () => {
    clock.advance(1);
    await held?.unlock();
  });
  accessor.fail(
    'insertRecord',
    delayedBy(() => Promise.resolve()),
    take,
    take,
  );
  accessor.fail('updateRecord', release, release, release);
  assert.ok(await drive(provider.lock(JOB)));
});

void test('a store that drops every insert is an error', async () => {
  const { accessor, provider, drive } = lockBench(UNKEPT);
  const dropped = (): Promise<undefined> => Promise.resolve(undefined);
  accessor.fail('insertRecord', ...Array<typeof dropped>(20).fill(dropped));
  await assert.rejects(drive(provider.lock(JOB)), /Does a trigger or a rule drop the insert/);
});

void test('a lock that lockAtLeastFor keeps leaves its record until it is purged (P5)', async () => {
  const { provider, other, clock, granted } = lockBench(UNKEPT);
  const lock = await granted(AT_LEAST);
  clock.advance('1m');
  assert.equal(await lock.unlock(), true);
  assert.equal(await other.lock(AT_LEAST), undefined);
  assert.equal(await provider.purge(0), 0);
  clock.advance('1m');
  assert.equal(await provider.purge(60_000), 0);
  clock.advance('1m');
  assert.equal(await provider.purge(60_000), 1);
  assert.equal(await provider.inspect(JOB.name), undefined);
});

void test('a lock released after lockAtLeastFor leaves no record', async () => {
  const { provider, clock, granted } = lockBench(UNKEPT);
  const lock = await granted(AT_LEAST);
  clock.advance('3m');
  assert.equal(await lock.unlock(), true);
  assert.equal(await provider.inspect(JOB.name), undefined);
});

void test('tokens rise, also in the same instant, where the record is kept (P3)', async () => {
  const { granted, provider } = lockBench(UNKEPT);
  const first = await granted();
  assert.equal(await first.unlock(), true);
  assert.equal((await provider.inspect(JOB.name))?.isHeld, false, 'the record carries the token on');
  const second = await granted();
  assert.ok(Number(second.fencingToken) > Number(first.fencingToken));
});

void test('a delete whose reply was lost counts as released', async () => {
  const { accessor, clock, granted } = lockBench(UNKEPT);
  const lock = await granted();
  clock.advance(1);
  accessor.fail('deleteRecord', replyLost);
  assert.equal(await lock.unlock(), true);
});

void test('a delete that was lost is sent again', async () => {
  const { accessor, provider, clock, granted, drive } = lockBench(UNKEPT);
  const lock = await granted();
  clock.advance(1);
  accessor.fail('deleteRecord', sendingLost);
  assert.equal(await drive(lock.unlock()), true);
  assert.equal(await provider.inspect(JOB.name), undefined);
});

void test('an insert that arrives after its sender gave up is deleted (P4)', async () => {
  const { accessor, provider, other, clock, drive } = lockBench(UNKEPT);
  const late = sentLate(accessor, 'insertRecord');
  accessor.fail('insertRecord', sendingLost, sendingLost);
  await assert.rejects(drive(provider.lock(JOB)), /sending lost/);
  await late.arrive();
  assert.equal(await other.lock(JOB), undefined);
  clock.advance('5s');
  assert.ok(await drive(other.lock(JOB)));
});

void test('keepRows: false is refused for a store that cannot delete records, and purge for one that keeps them', async () => {
  const { store, provider } = lockBench();
  const accessor = Object.assign(Object.create(store) as typeof store, { deleteRecord: undefined });
  assert.throws(() => new StorageBasedLockProvider(accessor, UNKEPT), InvalidLockConfigurationError);
  assert.throws(
    () => new StorageBasedLockProvider(store, { keepRows: 'no' as unknown as boolean }),
    /keepRows is "no": use true or false/,
  );
  await assert.rejects(provider.purge(0), InvalidLockUseError);
});
