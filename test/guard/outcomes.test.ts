import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LockStorageError, SchemaMismatchError, type CronlatchEvents } from 'cronlatch';
import type { LockProvider } from 'cronlatch/provider';
import { guardBench, reasonOf } from '../support/benches/guard';
import { JOB } from '../support/benches/lock';
import { refusedConnection } from '../support/faults/accessor';

const failing = (fail: () => Promise<undefined>): LockProvider => ({ lock: fail });

void test('if the store fails, run rejects with its error and the job does not run (P7)', async () => {
  const failure = new LockStorageError('the store is down');
  const { guard, emitted } = guardBench({ lockProvider: failing(() => Promise.reject(failure)) });
  assert.equal(await reasonOf(guard.run(JOB, () => assert.fail('ran'))), failure);
  const event = { name: 'job', job: 'job', scheduledAt: undefined, willRetry: false, error: failure };
  assert.deepEqual(emitted, [['lock:failed', event]]);
});

void test('a provider that throws instead of rejecting is also a failure of the store (P7)', async () => {
  const broken = new TypeError('broken');
  const throwing = failing(() => {
    throw broken;
  });
  const { guard, names } = guardBench({ lockProvider: throwing });
  assert.equal(await reasonOf(guard.run(JOB, () => assert.fail('ran'))), broken);
  assert.deepEqual(names(), ['lock:failed']);
});

void test('after a failure of the store the next run starts normally', async () => {
  const { guard, accessor } = guardBench();
  accessor.fail('updateRecord', refusedConnection);
  await assert.rejects(
    guard.run(JOB, () => assert.fail('ran')),
    LockStorageError,
  );
  assert.deepEqual(await guard.run(JOB, () => 'ran'), { executed: true, value: 'ran' });
});

for (const thrown of [new RangeError('mine'), 'a string', null, undefined]) {
  void test(`the job's own error (${String(thrown)}) is rethrown unchanged, and reported (P9, F-09)`, async () => {
    const { guard, events } = guardBench();
    const failures: CronlatchEvents['run:failed'][] = [];
    events.on('run:failed', (event) => void failures.push(event));
    assert.equal(await reasonOf(guard.run(JOB, () => Promise.reject(thrown as Error))), thrown);
    assert.deepEqual(
      failures.map(({ name, error }) => [name, error]),
      [['job', thrown]],
    );
  });
}

void test('a task that throws before its first await is treated the same (P9, F-09)', async () => {
  const { guard, other, names } = guardBench();
  const mine = new Error('mine');
  const task = (): never => {
    throw mine;
  };
  assert.equal(await reasonOf(guard.run(JOB, task)), mine);
  assert.deepEqual(names(), ['lock:acquired', 'run:started', 'run:failed', 'lock:released']);
  assert.ok(await other.lock(JOB));
});

void test('a release that fails replaces neither the value nor the error of the job (P9)', async () => {
  const { guard, accessor, emitted } = guardBench();
  const failure = new SchemaMismatchError('the table is gone');
  const tableGone = (): Promise<never> => Promise.reject(failure);
  accessor.fail('unlock', tableGone, tableGone);
  assert.deepEqual(await guard.run(JOB, () => 42), { executed: true, value: 42 });
  const mine = new Error('mine');
  assert.equal(await reasonOf(guard.run({ ...JOB, name: 'second' }, () => Promise.reject(mine))), mine);
  assert.deepEqual(
    emitted.filter(([name]) => name === 'lock:releaseFailed').map(([, event]) => event),
    ['job', 'second'].map((name) => ({ name, job: name, scheduledAt: undefined, error: failure })),
  );
});
