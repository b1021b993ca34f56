import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LockStorageError } from 'cronlatch';
import { signal } from '../support/benches/executor';
import { guardOfRuns, type GuardOfRuns } from '../support/benches/guard-of-runs';

const JOB = { name: 'job', lockAtMostFor: '10m', history: true } as const;

async function lastRun({ runStore }: GuardOfRuns) {
  const [job] = (await runStore.jobs()).jobs;
  return job;
}

void test('the register keeps the start, end, outcome and holder of the last run', async () => {
  const of = guardOfRuns();
  const startedAt = of.clock.wallMs();
  const job = of.guard.wrap(JOB, () => of.clock.advance('3s'));
  await job();
  of.clock.advance('1m');
  await of.guard.close();
  const last = await lastRun(of);
  assert.equal(last?.declared.kind, 'lock');
  assert.equal(last.lastOutcome, 'completed');
  assert.match(last.lastHolder ?? '', new RegExp(`/${process.pid}$`));
  assert.deepEqual(
    [last.lastStartedAt, last.lastFinishedAt],
    [startedAt, startedAt + 3000].map((ms) => new Date(ms)),
  );
});

void test('a run that failed is recorded as failed, and a skipped call is not recorded', async () => {
  const of = guardOfRuns();
  await of.guard.run(JOB, () => Promise.reject(new Error('fails'))).catch(() => {});
  await of.other.lock(JOB);
  of.clock.advance('1m');
  await of.guard.run(JOB, () => assert.fail('ran'));
  await of.guard.close();
  const last = await lastRun(of);
  assert.equal(last?.lastOutcome, 'failed');
  assert.equal(last.lastStartedAt?.getTime(), of.clock.wallMs() - 60_000);
});

void test('the result of a job does not wait for its record, but closing the guard does', async (t) => {
  const of = guardOfRuns();
  const update = of.runStore.updateJobs.bind(of.runStore);
  const written = signal<void>();
  t.mock.method(of.runStore, 'updateJobs', async (...call: Parameters<typeof update>) => {
    await written.promise;
    await update(...call);
  });
  assert.deepEqual(await of.guard.run(JOB, () => 1), { executed: true, value: 1 });
  assert.equal(await of.other.lock({ ...JOB, lockAtMostFor: '1s' }).then((lock) => lock?.unlock()), true);
  const closed = of.guard.close();
  assert.equal((await lastRun(of))?.lastOutcome, undefined);
  written.resolve();
  await closed;
  assert.equal((await lastRun(of))?.lastOutcome, 'completed');
});

void test('a record that fails is a warning', async (t) => {
  const of = guardOfRuns();
  const warnings: string[] = [];
  of.guard.on('guard:warning', ({ message }) => void warnings.push(message));
  t.mock.method(of.runStore, 'updateJobs', () => Promise.reject(new LockStorageError('away')));
  assert.deepEqual(await of.guard.run(JOB, () => 1), { executed: true, value: 1 });
  await of.guard.close();
  assert.deepEqual(warnings, ["Could not record the last run of job 'job'."]);
});

void test('a run is recorded even if its job could not be registered before', async (t) => {
  const of = guardOfRuns();
  const away = t.mock.method(of.runStore, 'jobs', () => Promise.reject(new LockStorageError('away')));
  const job = of.guard.wrap(JOB, () => 1);
  await of.guard.runOverdue();
  away.mock.restore();
  await job();
  await of.guard.close();
  assert.equal((await lastRun(of))?.lastOutcome, 'completed');
});

void test('without history, a run sends no statement to the register', async (t) => {
  const of = guardOfRuns();
  const update = t.mock.method(of.runStore, 'updateJobs');
  await of.guard.run({ ...JOB, history: false }, () => 1);
  await of.guard.close();
  assert.equal(update.mock.callCount(), 0);
});
