import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { LockConfiguration } from 'cronlatch';
import { scheduleLocked } from 'cronlatch/node-cron';
import { getTasks } from 'node-cron';
import { guardBench, nextEvent, type GuardBench } from '../../support/benches/guard';
import { JOB } from '../../support/benches/lock';
import { refusedConnection } from '../../support/faults/accessor';

let bench: GuardBench;
beforeEach(() => void (bench = guardBench()));
afterEach(() => bench.guard.close());

void test('a function becomes a task named after its lock, and runs in that lock', async () => {
  const { guard } = bench;
  const task = scheduleLocked('0 3 * * *', JOB, (lock) => lock.name, { guard });
  assert.deepEqual([task.name, task.getPattern(), task.getStatus()], ['job', '0 3 * * *', 'idle']);
  const started = nextEvent(guard, 'run:started');
  assert.equal(await task.execute(), 'job');
  assert.equal((await started).scheduledAt, undefined);
});

void test('a skipped task resolves to undefined', async () => {
  await bench.other.lock(JOB);
  const task = scheduleLocked('0 3 * * *', JOB, () => assert.fail('ran'), { guard: bench.guard });
  assert.equal(await task.execute(), undefined);
  assert.deepEqual(bench.names(), ['lock:skipped']);
});

void test('failures of the function and of the store are reported once, by the guard', async () => {
  const task = scheduleLocked('0 3 * * *', JOB, () => Promise.reject(new Error('mine')), {
    guard: bench.guard,
  });
  assert.equal(await task.execute(), undefined);
  bench.accessor.fail('updateRecord', refusedConnection);
  assert.equal(await task.execute(), undefined);
  assert.equal(bench.lines.length, 2);
});

void test('changing a configuration after scheduling has no effect', async () => {
  const configuration = { name: 'job', lockAtMostFor: '1m' };
  const task = scheduleLocked('0 3 * * *', configuration, () => 'ran', { guard: bench.guard });
  configuration.lockAtMostFor = 'nonsense';
  assert.equal(await task.execute(), 'ran');
});

const REFUSED: [string, LockConfiguration, { timeZone?: string }, RegExp][] = [
  ['61 * * * *', JOB, {}, /^"61 \* \* \* \*" is not a cron expression/],
  ['0 0 30W 2 *', JOB, {}, /no date matches/],
  ['0 3 * * *', JOB, { timeZone: 'Mars' }, /^timeZone is "Mars"/],
  ['0 3 * * *', { name: 'job' }, {}, /^lockAtMostFor of lock 'job' is missing/],
  ['0 3 * * *', { name: '', lockAtMostFor: '1m' }, {}, /^"" cannot be the name of a lock/],
];

for (const [expression, configuration, options, message] of REFUSED) {
  void test(`${expression} with ${JSON.stringify({ ...configuration, ...options })} is rejected, and no task is left`, () => {
    assert.throws(
      () => scheduleLocked(expression, configuration, () => {}, { guard: bench.guard, ...options }),
      { name: 'InvalidLockConfigurationError', message },
    );
    assert.equal(getTasks().size, 0);
  });
}

void test('the lock of another task is rejected, unless both have shared: true', () => {
  const { guard } = bench;
  scheduleLocked('0 3 * * *', JOB, () => {}, { guard });
  assert.throws(() => scheduleLocked('0 4 * * *', JOB, () => {}, { guard }), {
    name: 'InvalidLockConfigurationError',
    message: /^Lock 'job' is used by .*shared: true on both/,
  });
  assert.equal(getTasks().size, 1);
  const shared = { ...JOB, name: 'shared', shared: true };
  scheduleLocked('0 3 * * *', shared, () => {}, { guard });
  assert.doesNotThrow(() => scheduleLocked('0 4 * * *', shared, () => {}, { guard }));
});
