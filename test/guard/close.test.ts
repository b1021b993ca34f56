import assert from 'node:assert/strict';
import { test } from 'node:test';
import { delayedBy } from '../support/faults/accessor';
import { signal } from '../support/benches/executor';
import { eventsOf, guardBench, recordingLogger, runningJob } from '../support/benches/guard';
import { JOB, turn } from '../support/benches/lock';
import { once } from 'node:events';
import type { CloseOptions } from 'cronlatch/provider';

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
  guard.onClose({ stop: job.end });
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

const REFUSED: [CloseOptions, RegExp][] = [
  [{ timeout: '20' }, /^timeout of close is "20"/],
  [{ timeout: -1 }, /^timeout of close is -1/],
  [{ timeout: '1s', grace: 'soon' }, /^grace of close is "soon"/],
  [{ timeout: '10s', grace: '11s' }, /^grace \(11s\) of close is longer than its timeout \(10s\)/],
  [{ grace: '21s' }, /^grace \(21s\) of close is longer than its timeout \(20s\)/],
];

for (const [options, message] of REFUSED) {
  void test(`close options ${JSON.stringify(options)} are rejected, and the guard stays open`, async () => {
    const { guard } = guardBench();
    await assert.rejects(guard.close(options), { name: 'InvalidLockConfigurationError', message });
    assert.throws(() => guard.closeOnSignals(options), { name: 'InvalidLockConfigurationError', message });
    assert.deepEqual(await guard.run({ name: 'job', lockAtMostFor: '1m' }, () => 1), {
      executed: true,
      value: 1,
    });
    assert.deepEqual(await guard.close(), { settled: [], abandoned: [] });
  });
}

void test('closeOnSignals with invalid options listens to no signal', () => {
  const { guard } = guardBench();
  assert.throws(() => guard.closeOnSignals({ timeout: 'x' }));
  assert.equal(process.listenerCount('SIGTERM') + process.listenerCount('SIGINT'), 0);
});

void test('a timeout shorter than the default grace is all grace', async () => {
  const { guard, clock } = guardBench();
  const { lock } = await runningJob(guard);
  const aborted = once(lock.signal, 'abort');
  const closing = guard.close({ timeout: '2s' });
  await aborted;
  clock.advance('2s');
  assert.deepEqual(await closing, { settled: [], abandoned: ['job'] });
});

/** A guard that also logs what is not a warning. */
function loggedBench() {
  const logger = recordingLogger();
  const closingLines = (): string[] => logger.lines.filter((line) => / (closing:|closed )/.test(line));
  return { ...guardBench({ logger }), closingLines };
}

void test('a closing guard has a line when it begins to wait for jobs, and one when it has closed', async () => {
  const { guard, clock, closingLines } = loggedBench();
  const job = await runningJob(guard, { ...JOB, name: 'rebuild-search-index' });
  const closed = guard.close();
  assert.deepEqual(closingLines(), [
    'info: cronlatch closing: waits up to 20 s for 1 job (rebuild-search-index).',
  ]);
  clock.advance('3s');
  job.finish();
  await closed;
  assert.deepEqual(closingLines().slice(1), ['info: cronlatch closed after 3.0 s.']);
});

void test('the line at the end names the jobs that were asked to stop', async () => {
  const { guard, clock, closingLines } = loggedBench();
  const events = eventsOf(guard, 'guard:closed');
  const [quick, slow] = [await runningJob(guard, { ...JOB, name: 'quick' }), await runningJob(guard)];
  const closed = guard.close();
  await quick.end();
  await turn();
  clock.advance('15s');
  await turn();
  assert.equal(slow.lock.signal.aborted, true);
  clock.advance('200ms');
  slow.finish();
  await closed;
  assert.deepEqual(closingLines(), [
    'info: cronlatch closing: waits up to 20 s for 2 jobs (quick, job).',
    'info: cronlatch closed after 15.2 s, asked 1 job (job) to stop.',
  ]);
  const message = 'closed after 15.2 s, asked 1 job (job) to stop';
  const jobs = ['quick', 'job'];
  assert.deepEqual(events, [{ message, durationMs: 15_200, jobs, stopped: ['job'], abandoned: [] }]);
});

void test('the line at the end names the jobs that the guard gave up', async () => {
  const { guard, clock, closingLines } = loggedBench();
  const job = await runningJob(guard);
  const closed = guard.close({ timeout: '2s', grace: '2s' });
  await turn();
  clock.advance('2s');
  await closed;
  assert.deepEqual(closingLines(), [
    'info: cronlatch closing: waits up to 2 s for 1 job (job).',
    'info: cronlatch closed after 2.0 s, asked 1 job (job) to stop, gave up 1 job (job).',
  ]);
  await job.end();
});

void test('without running jobs, both lines are of debug', async () => {
  const { guard, closingLines } = loggedBench();
  await guard.close();
  assert.deepEqual(closingLines(), [
    'debug: cronlatch closing: no job is running.',
    'debug: cronlatch closed after 0 ms.',
  ]);
});
