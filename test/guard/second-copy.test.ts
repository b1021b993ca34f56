import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import * as ours from 'cronlatch';
import { guardBench } from '../support/benches/guard';
import { JOB } from '../support/benches/lock';
import { secondCopyOf } from '../support/processes/second-copy';

const theirs = secondCopyOf<typeof ours>('cronlatch');

afterEach(() => ours.configureJobGuard(undefined));

void test('it is another copy', () => {
  assert.notEqual(theirs.JobGuard, ours.JobGuard);
  assert.notEqual(theirs.CronlatchError, ours.CronlatchError);
});

void test('a method decorated by one copy runs through the guard that was configured in the other', async () => {
  const { guard, names } = guardBench();
  const descriptor = { value: (): Promise<unknown> => Promise.resolve('ran') };
  theirs.SchedulerLock('job', '1m')({}, 'method', descriptor);
  ours.configureJobGuard(guard);
  assert.equal(await descriptor.value(), 'ran');
  assert.deepEqual(names(), ['lock:acquired', 'run:started', 'run:completed', 'lock:released']);
});

void test('a second guard is rejected in either copy', () => {
  ours.configureJobGuard(guardBench().guard);
  assert.throws(() => theirs.configureJobGuard(guardBench().guard), ours.InvalidLockUseError);
});

void test('methods decorated by one copy are checked by the other', () => {
  theirs.SchedulerLock('their-job')({}, 'method', { value: () => Promise.resolve() });
  assert.throws(() => ours.configureJobGuard(guardBench().guard), /'their-job'/);
});

void test('a method decorated by one copy cannot be decorated again by the other', () => {
  const descriptor = { value: () => Promise.resolve() };
  theirs.SchedulerLock('first', '1m')({}, 'method', descriptor);
  assert.throws(() => ours.SchedulerLock('second', '1m')({}, 'method', descriptor), {
    message: /twice: 'first' and 'second'/,
  });
});

void test('both copies return the same current lock', async () => {
  const { guard } = guardBench();
  await guard.run(JOB, (lock) => {
    assert.equal(theirs.currentLock(), lock);
    theirs.LockAssert.assertLocked('job');
  });
  assert.throws(() => theirs.LockAssert.assertLocked(), ours.LockNotHeldError);
});

void test('errors of one copy are recognised by the other, by their kinds', () => {
  const error: unknown = new theirs.LockStorageError('down');
  assert.ok(error instanceof ours.LockStorageError);
  assert.ok(error instanceof ours.CronlatchError);
  assert.ok(!(error instanceof ours.LockLostError));
  assert.ok(!(error instanceof ours.SchemaMismatchError));
  assert.ok(!(new Error('down') instanceof ours.CronlatchError));
});
