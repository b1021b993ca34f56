import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guardBench, reasonOf, runningJob } from '../support/benches/guard';
import { JOB } from '../support/benches/lock';
import { type ChannelListener, subscribe, unsubscribe } from 'node:diagnostics_channel';

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

void test('a wrapped function passes its arguments on and resolves to its value', async () => {
  const { guard } = guardBench();
  const add = guard.wrap(JOB, (a: number, b: number) => a + b);
  assert.deepEqual([await add(2, 3), await add(3, 4)], [5, 7]);
});

void test('changing a configuration after wrapping has no effect', async () => {
  const { guard } = guardBench();
  const configuration = { name: 'job', lockAtMostFor: '10m' };
  const wrapped = guard.wrap(configuration, () => 'ran');
  configuration.lockAtMostFor = 'nonsense';
  assert.equal(await wrapped(), 'ran');
});

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

const NAMES = ['lock:acquired', 'run:started', 'run:completed', 'lock:released'] as const;

void test("every event is published on the channel 'cronlatch:' plus its name, with the same payload as for listeners", async () => {
  const published: [string | symbol, unknown][] = [];
  const listener: ChannelListener = (event, channel) => void published.push([channel, event]);
  for (const name of NAMES) subscribe(`cronlatch:${name}`, listener);
  const { guard, emitted } = guardBench();
  await guard.run(JOB, () => {});
  for (const name of NAMES) unsubscribe(`cronlatch:${name}`, listener);
  assert.deepEqual(
    published,
    emitted.map(([name, event]) => [`cronlatch:${name}`, event]),
  );
  assert.equal(published.length, NAMES.length);
});
