import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventsOf, guardBench, recordingLogger, runningJob } from '../support/benches/guard';
import { JOB, turn } from '../support/benches/lock';

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
