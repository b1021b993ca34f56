import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { JobGuard } from 'cronlatch';
import { EventHub } from 'cronlatch/provider';
import { guardBench, reasonOf, recordingLogger, runningJob } from '../support/benches/guard';
import { JOB } from '../support/benches/lock';

const job = { name: 'job', scheduledAt: undefined };

void test('a logger with only warn and error gets no line about successful runs and skips', async () => {
  const { guard, other, lines } = guardBench();
  await guard.run(JOB, () => {});
  await other.lock(JOB);
  await guard.run(JOB, () => {});
  assert.deepEqual(lines, []);
});

void test('a run that completes is exactly one line of info, and a start and a skip are lines of debug', async () => {
  const logger = recordingLogger();
  const { guard, clock, other } = guardBench({ logger });
  await guard.run(JOB, () => void clock.advance('90s'));
  await other.lock(JOB);
  await guard.run(JOB, () => {});
  const [started, completed, skipped, ...others] = logger.lines;
  assert.equal(started, "debug: cronlatch run:started: job 'job' started.");
  assert.equal(completed, "info: cronlatch run:completed: job 'job' completed in 1 min 30 s.");
  assert.match(
    skipped ?? '',
    /^debug: cronlatch lock:skipped: job 'job' skipped: locked by .+ until 2026-11-20T03:11:30\.000Z\.$/,
  );
  assert.deepEqual(others, []);
});

void test('without a logger the lines go to console.error, console.warn and console.info, but not to console.debug', () => {
  const methods = (['error', 'warn', 'info', 'debug'] as const).map((name) =>
    mock.method(console, name, () => {}),
  );
  const { events } = guardBench({ logger: undefined });
  events.emit('run:stuck', job);
  events.emit('guard:warning', { message: 'Look here.' });
  events.emit('run:completed', { ...job, durationMs: 1 });
  events.emit('run:started', { ...job, fencingToken: 1 });
  mock.restoreAll();
  assert.deepEqual(
    methods.map(({ mock: { calls } }) => calls.length),
    [1, 1, 1, 0],
  );
});

void test('logger: false disables the log', () => {
  const ways = [
    mock.method(console, 'error', () => {}),
    mock.method(console, 'warn', () => {}),
    mock.method(console, 'info', () => {}),
    mock.method(process, 'emitWarning', () => {}),
  ];
  const events = new EventHub();
  new JobGuard({ lockProvider: guardBench().provider, events, logger: false });
  events.emit('run:stuck', job);
  events.emit('guard:warning', { message: 'Look here.' });
  events.emit('run:completed', { ...job, durationMs: 1 });
  mock.restoreAll();
  for (const { mock } of ways) assert.equal(mock.callCount(), 0);
});

void test('a logger that throws does not affect the job (F-90)', async () => {
  const failing = (): never => {
    throw new Error('disk full');
  };
  const warned = mock.method(process, 'emitWarning', () => {});
  const { guard } = guardBench({ logger: { warn: failing, error: failing } });
  const mine = new Error('mine');
  const { result, fail } = await runningJob(guard);
  fail(mine);
  assert.equal(await reasonOf(result), mine);
  mock.restoreAll();
  assert.equal(warned.mock.callCount(), 1);
});
