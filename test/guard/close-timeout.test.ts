import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { currentLock, LockAssert } from 'cronlatch';
import { guardBench, runningJob } from '../support/benches/guard';
import { JOB, turn } from '../support/benches/lock';

const TWENTY_SECONDS = [
  ['timeout', { timeout: '20s', grace: '5s' }],
  ['default timeout', {}],
] as const;

for (const [which, options] of TWENTY_SECONDS)
  void test(`signals abort at the ${which} less the grace, with an AbortError as their reason (F-13)`, async () => {
    const { guard, clock } = guardBench();
    const { lock, finish } = await runningJob(guard);
    const closing = guard.close(options);
    await turn();
    clock.advance(14_999);
    await turn();
    assert.equal(lock.signal.aborted, false);
    const aborted = once(lock.signal, 'abort');
    clock.advance(1);
    await aborted;
    const reason: unknown = lock.signal.reason;
    assert.ok(reason instanceof DOMException);
    assert.equal(reason.name, 'AbortError');
    assert.match(reason.message, /closing/);
    finish();
    assert.deepEqual(await closing, { settled: ['job'], abandoned: [] });
  });

void test('a job whose signal has aborted still holds its lock', async () => {
  const { guard } = guardBench();
  const run = guard.run(JOB, async ({ signal }) => {
    await once(signal, 'abort');
    LockAssert.assertLocked('job');
    return currentLock().remainingMs();
  });
  await turn();
  const closing = guard.close({ timeout: '10s', grace: '10s' });
  assert.deepEqual(await run, { executed: true, value: 600_000 });
  await closing;
});

for (const [which, options] of TWENTY_SECONDS)
  void test(`at the ${which} close stops waiting: the job is abandoned and keeps its lock until the lease expires (F-13)`, async () => {
    const { guard, clock, other, accessor, names, lines } = guardBench();
    const job = await runningJob(guard);
    const closing = guard.close(options);
    for (const part of ['15s', '5s']) {
      await turn();
      clock.advance(part);
    }
    assert.deepEqual(await closing, { settled: [], abandoned: ['job'] });
    assert.deepEqual(lines, [
      "warn: cronlatch guard:warning: Job 'job' is still running, and the guard no longer waits for it. Its lock stays held until its lease expires.",
    ]);
    job.finish('late');
    assert.deepEqual(await job.result, { executed: true, value: 'late' });
    assert.equal(await other.lock(JOB), undefined);
    assert.ok(!accessor.calls.includes('unlock') && !names().includes('lock:released'));
    clock.advance('10m');
    assert.ok(await other.lock(JOB));
  });

void test('no lock is released while its job runs (F-13)', async () => {
  const { guard, clock, accessor } = guardBench();
  const slow = await runningJob(guard);
  const quick = await runningJob(guard, { ...JOB, name: 'quick' });
  const closing = guard.close({ timeout: '20s' });
  await turn();
  await quick.end();
  clock.advance('15s');
  await turn();
  assert.equal(accessor.calls.filter((call) => call === 'unlock').length, 1);
  slow.finish();
  assert.deepEqual(await closing, { settled: ['job', 'quick'], abandoned: [] });
  assert.equal(accessor.calls.filter((call) => call === 'unlock').length, 2);
});

void test('the lease of an abandoned job is not renewed any more', async () => {
  const { guard, clock, accessor, other } = guardBench();
  const configuration = { name: 'job', lockAtMostFor: '30s', keepAlive: true };
  const job = await runningJob(guard, configuration);
  const extensions = (): number => accessor.calls.filter((call) => call === 'extend').length;
  clock.advance('10s');
  await turn();
  assert.equal(extensions(), 1);
  const aborted = once(job.lock.signal, 'abort');
  const closing = guard.close({ timeout: '5s' });
  await aborted;
  clock.advance('5s');
  assert.deepEqual(await closing, { settled: [], abandoned: ['job'] });
  clock.advance('25s');
  await turn();
  assert.equal(extensions(), 1);
  assert.ok(await other.lock(configuration));
  await job.end();
});

void test('while close waits for a job, its lease is still renewed', async () => {
  const { guard, clock, other } = guardBench();
  const configuration = { name: 'job', lockAtMostFor: '6s', keepAlive: true };
  const job = await runningJob(guard, configuration);
  const closing = guard.close({ timeout: '20s', grace: '5s' });
  for (let second = 0; second < 18; second += 1) {
    await turn();
    clock.advance('1s');
  }
  assert.equal(await other.lock(configuration), undefined);
  job.finish();
  assert.deepEqual(await closing, { settled: ['job'], abandoned: [] });
});
