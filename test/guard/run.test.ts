import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guardBench, runningJob } from '../support/benches/guard';
import { JOB } from '../support/benches/lock';

const ANOTHER = { name: 'another', lockAtMostFor: '10m' };

void test('the task receives the lock that it runs in', async () => {
  const { guard } = guardBench();
  const result = await guard.run(JOB, (lock) => [lock.name, typeof lock.fencingToken, lock.remainingMs()]);
  assert.deepEqual(result, { executed: true, value: ['job', 'number', 600_000] });
});

void test('a job that starts after close is skipped as closing', async () => {
  const { guard, accessor } = guardBench();
  await guard.close();
  assert.deepEqual(await guard.run(JOB, () => assert.fail('ran')), { executed: false, reason: 'closing' });
  assert.deepEqual(accessor.calls, []);
});

void test('jobs with different locks run concurrently', async () => {
  const { guard } = guardBench();
  const first = await runningJob(guard);
  const second = await runningJob(guard, ANOTHER);
  second.finish('second');
  first.finish('first');
  assert.deepEqual(await first.result, { executed: true, value: 'first' });
  assert.deepEqual(await second.result, { executed: true, value: 'second' });
});

void test('a job started inside another keeps both locks until it has ended', async () => {
  const { guard, other } = guardBench();
  await guard.run(JOB, async () => {
    await guard.run(ANOTHER, async () => {
      assert.equal(await other.lock(JOB), undefined);
      assert.equal(await other.lock(ANOTHER), undefined);
    });
    assert.ok(await other.lock(ANOTHER));
  });
  assert.ok(await other.lock(JOB));
});
