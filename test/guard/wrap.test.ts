import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockConfigurationError, LockStorageError } from 'cronlatch';
import { guardBench, reasonOf } from '../support/benches/guard';
import { JOB } from '../support/benches/lock';
import { refusedConnection } from '../support/faults/accessor';

void test('a wrapped function passes its arguments on and resolves to its value', async () => {
  const { guard } = guardBench();
  const add = guard.wrap(JOB, (a: number, b: number) => a + b);
  assert.equal(await add(2, 3), 5);
  assert.equal(await add(3, 4), 7);
});

void test('a skipped wrapped function resolves to undefined', async () => {
  const { guard, other } = guardBench();
  await other.lock(JOB);
  assert.equal(await guard.wrap(JOB, () => assert.fail('ran'))(), undefined);
});

void test('by default a failure of the job is reported and the call resolves, so that a scheduler does not end the process', async () => {
  const { guard, names, lines } = guardBench();
  assert.equal(await guard.wrap(JOB, () => Promise.reject(new Error('mine')))(), undefined);
  assert.ok(names().includes('run:failed'));
  assert.equal(lines.length, 1);
});

void test('by default a failure of the store is reported and the call resolves', async () => {
  const { guard, accessor, names, lines } = guardBench();
  accessor.fail('updateRecord', refusedConnection);
  assert.equal(await guard.wrap(JOB, () => assert.fail('ran'))(), undefined);
  assert.deepEqual(names(), ['lock:failed']);
  assert.equal(lines.length, 1);
});

void test("with onError 'throw' the call also rejects", async () => {
  const { guard, accessor, names } = guardBench();
  const mine = new Error('mine');
  const wrapped = guard.wrap(JOB, () => Promise.reject(mine), { onError: 'throw' });
  assert.equal(await reasonOf(wrapped()), mine);
  accessor.fail('updateRecord', refusedConnection);
  await assert.rejects(wrapped(), LockStorageError);
  assert.deepEqual(
    names().filter((name) => name.endsWith('failed')),
    ['run:failed', 'lock:failed'],
  );
});

void test('an invalid configuration is rejected when the function is wrapped, not at the first tick', () => {
  const { guard } = guardBench();
  const never = (): void => assert.fail('ran');
  assert.throws(() => guard.wrap({ name: 'job' }, never), InvalidLockConfigurationError);
  assert.throws(() => guard.wrap({ name: '', lockAtMostFor: '1m' }, never), InvalidLockConfigurationError);
  assert.throws(
    () => guard.wrap({ name: 'job', lockAtMostFor: '600' }, never),
    /lockAtMostFor of lock 'job' is "600"/,
  );
});

void test('changing a configuration after wrapping has no effect', async () => {
  const { guard } = guardBench();
  const configuration = { name: 'job', lockAtMostFor: '10m' };
  const wrapped = guard.wrap(configuration, () => 'ran');
  configuration.lockAtMostFor = 'nonsense';
  assert.equal(await wrapped(), 'ran');
});
