import assert from 'node:assert/strict';
import { test } from 'node:test';
import { delayedBy } from '../support/faults/accessor';
import { signal } from '../support/benches/executor';
import { guardBench, runningJob } from '../support/benches/guard';
import { JOB, turn } from '../support/benches/lock';

void test('close waits for running jobs, and returns which ones it waited for', async () => {
  const { guard, other, names } = guardBench();
  const job = await runningJob(guard);
  const closing = guard.close();
  await turn();
  assert.equal(await other.lock(JOB), undefined);
  job.finish('done');
  assert.deepEqual(await closing, { settled: ['job'], abandoned: [] });
  assert.equal(names().at(-1), 'lock:released');
  assert.ok(await other.lock(JOB));
  assert.deepEqual(await job.result, { executed: true, value: 'done' });
});

void test('a job that ends while scheduling is being stopped counts as settled', async () => {
  const { guard } = guardBench();
  const job = await runningJob(guard);
  guard.onClose({
    stop: async () => {
      await job.end();
    },
  });
  assert.deepEqual(await guard.close(), { settled: ['job'], abandoned: [] });
});

void test('close waits for the release of the lock, not only for the job', async () => {
  const { guard, accessor } = guardBench();
  const released = signal();
  accessor.fail(
    'unlock',
    delayedBy(() => released.promise),
  );
  const job = await runningJob(guard);
  let closed = false;
  const closing = guard.close().finally(() => (closed = true));
  job.finish();
  for (let turns = 0; turns < 5; turns += 1) await turn();
  assert.equal(closed, false);
  released.resolve();
  await closing;
});

void test('a job nested in a running one may still start, because the outer one needs it', async () => {
  const { guard } = guardBench();
  const closing = signal();
  const outer = guard.run(JOB, async () => {
    await closing.promise;
    return await guard.run(JOB, () => 'nested');
  });
  await turn();
  const closed = guard.close();
  closing.resolve();
  assert.deepEqual(await outer, { executed: true, value: { executed: true, value: 'nested' } });
  assert.deepEqual(await closed, { settled: ['job'], abandoned: [] });
});

void test('a lock acquired after closing began is released, and its job is skipped as closing', async () => {
  const { guard, accessor, other, names } = guardBench();
  const granted = signal();
  accessor.fail(
    'updateRecord',
    delayedBy(() => granted.promise),
  );
  const run = guard.run(JOB, () => assert.fail('ran'));
  const closing = guard.close();
  granted.resolve();
  assert.deepEqual(await run, { executed: false, reason: 'closing' });
  await closing;
  assert.ok(await other.lock(JOB));
  assert.deepEqual(names(), ['lock:acquired', 'lock:skipped', 'lock:released']);
});

void test('a second close returns the same result', async () => {
  const { guard } = guardBench();
  const job = await runningJob(guard);
  const first = guard.close();
  const second = guard.close({ timeout: 0 });
  job.finish();
  assert.deepEqual(await first, { settled: ['job'], abandoned: [] });
  assert.equal(await second, await first);
  assert.equal(await guard.close(), await first);
});
