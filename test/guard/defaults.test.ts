import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockConfigurationError } from 'cronlatch';
import { StorageBasedLockProvider } from 'cronlatch/provider';
import { guardBench, runningJob } from '../support/guard-bench';

const never = (): void => assert.fail('ran');

void test('a job without lockAtMostFor gets the guard’s default', async () => {
  const { guard } = guardBench({ defaultLockAtMostFor: '3m' });
  const job = await runningJob(guard, { name: 'job' });
  assert.equal(job.lock.remainingMs(), 180_000);
  job.finish();
  await job.result;
});

void test('a job’s own lockAtMostFor takes precedence over the default', async () => {
  const { guard } = guardBench({ defaultLockAtMostFor: '3m' });
  const job = await runningJob(guard, { name: 'job', lockAtMostFor: '1m' });
  assert.equal(job.lock.remainingMs(), 60_000);
  job.finish();
  await job.result;
});

void test('without lockAtMostFor and a default, run rejects, wrap and check throw, and all errors name the lock', async () => {
  const { guard } = guardBench();
  const naming = {
    name: 'InvalidLockConfigurationError',
    message: /lockAtMostFor of lock 'nightly' is missing/,
  };
  await assert.rejects(guard.run({ name: 'nightly' }, never), naming);
  assert.throws(() => guard.wrap({ name: 'nightly' }, never), naming);
  assert.throws(() => guard.check({ name: 'nightly' }), naming);
});

void test('a lockAtLeastFor longer than the default is rejected', () => {
  const { guard } = guardBench({ defaultLockAtMostFor: '3m' });
  assert.doesNotThrow(() => guard.check({ name: 'job', lockAtLeastFor: '3m' }));
  assert.throws(
    () => guard.check({ name: 'job', lockAtLeastFor: '4m' }),
    /lockAtLeastFor \(4m\) is longer than lockAtMostFor \(3m\) for lock 'job'/,
  );
});

for (const defaultLockAtMostFor of ['10', 0, '-1m', NaN, 'P1M', '366d']) {
  void test(`a default of ${defaultLockAtMostFor} is rejected when the guard is created`, () => {
    assert.throws(() => guardBench({ defaultLockAtMostFor }), {
      name: 'InvalidLockConfigurationError',
      message: /^defaultLockAtMostFor is /,
    });
  });
}

const LONG = 'n'.repeat(65);

void test('names may be as long as the option nameLength, 64 characters by default', async () => {
  const { guard } = guardBench();
  assert.doesNotThrow(() => guard.check({ name: LONG.slice(1), lockAtMostFor: '1m' }));
  await assert.rejects(
    guard.run({ name: LONG, lockAtMostFor: '1m' }, never),
    /has 65 characters, more than 64/,
  );
});

void test('a guard with a wider table accepts longer names', async () => {
  const { store, clock } = guardBench();
  const lockProvider = new StorageBasedLockProvider(store, { clock, nameLength: 255 });
  const { guard } = guardBench({ lockProvider, nameLength: 255, clock });
  assert.deepEqual(await guard.run({ name: LONG, lockAtMostFor: '1m' }, () => 1), {
    executed: true,
    value: 1,
  });
  assert.throws(
    () => guard.check({ name: 'n'.repeat(256), lockAtMostFor: '1m' }),
    InvalidLockConfigurationError,
  );
});

for (const nameLength of [0, 256, 1.5, NaN]) {
  void test(`a nameLength of ${nameLength} is rejected`, () => {
    assert.throws(
      () => guardBench({ nameLength }),
      /nameLength is .*: it must be a whole number from 1 to 255/,
    );
  });
}
