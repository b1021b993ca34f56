import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guardBench, reasonOf, runningJob } from '../support/benches/guard';
import { JOB } from '../support/benches/lock';

const scheduledAt = new Date('2026-11-20T03:00:00Z');

void test('every event of a run, and that of a skip, has the lock’s name and the scheduled time', async () => {
  const { guard, other, emitted, names } = guardBench();
  await guard.run({ ...JOB, scheduledAt }, () => 42);
  await reasonOf(guard.run({ ...JOB, scheduledAt }, () => Promise.reject(new Error('mine'))));
  await other.lock(JOB);
  await guard.run({ ...JOB, scheduledAt }, () => assert.fail('ran'));
  assert.deepEqual([names().length, names().at(-1)], [9, 'lock:skipped']);
  for (const [, event] of emitted) assert.ok('name' in event && event.name === 'job');
  for (const [, event] of emitted) assert.ok('scheduledAt' in event && event.scheduledAt === scheduledAt);
});

void test('run:started has the fencing token, run:completed the duration', async () => {
  const { guard, clock, emitted } = guardBench();
  const job = await runningJob(guard);
  const token = job.lock.fencingToken;
  clock.advance('90s');
  await job.end();
  assert.deepEqual(
    emitted.filter(([name]) => name.startsWith('run:')),
    [
      ['run:started', { name: 'job', job: 'job', scheduledAt: undefined, fencingToken: token }],
      ['run:completed', { name: 'job', job: 'job', scheduledAt: undefined, durationMs: 90_000 }],
    ],
  );
  assert.equal(typeof token, 'number');
});

void test('a job that outlives its lease gets an aborted signal, and is reported as stuck once, at the next tick (F-81)', async () => {
  const { guard, clock, names } = guardBench();
  const job = await runningJob(guard);
  clock.advance('10m');
  assert.equal(job.lock.signal.aborted, true);
  for (let tick = 0; tick < 3; tick += 1) {
    assert.deepEqual(await guard.run(JOB, () => assert.fail('ran')), {
      executed: false,
      reason: 'running-here',
    });
  }
  assert.equal(names().filter((name) => name === 'lock:lost').length, 1);
  assert.equal(names().filter((name) => name === 'run:stuck').length, 1);
  await job.end();
});
