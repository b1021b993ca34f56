import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { JobGuard } from 'cronlatch';
import { EventHub } from 'cronlatch/provider';
import { guardBench, reasonOf, runningJob } from '../support/guard-bench';
import { JOB } from '../support/lock-bench';

const job = { name: 'job', scheduledAt: undefined };

void test('successful runs and skips log nothing', async () => {
  const { guard, other, lines } = guardBench();
  await guard.run(JOB, () => {});
  await other.lock(JOB);
  await guard.run(JOB, () => {});
  assert.deepEqual(lines, []);
});

void test('without a logger the lines go to console.error and console.warn', () => {
  const error = mock.method(console, 'error', () => {});
  const warn = mock.method(console, 'warn', () => {});
  const { events } = guardBench({ logger: undefined });
  events.emit('run:stuck', job);
  events.emit('guard:warning', { message: 'Look here.' });
  mock.restoreAll();
  assert.equal(error.mock.callCount(), 1);
  assert.equal(warn.mock.callCount(), 1);
});

void test('logger: false disables the log', () => {
  const ways = [
    mock.method(console, 'error', () => {}),
    mock.method(console, 'warn', () => {}),
    mock.method(process, 'emitWarning', () => {}),
  ];
  const events = new EventHub();
  new JobGuard({ lockProvider: guardBench().provider, events, logger: false });
  events.emit('run:stuck', job);
  events.emit('guard:warning', { message: 'Look here.' });
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
