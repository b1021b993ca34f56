import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { currentRun, InvalidLockUseError, OncePerDay, SchedulerLock, type CurrentRun } from 'cronlatch';
import { operations } from 'cronlatch/operations';
import { useTestGuard, type TestGuard } from 'cronlatch/testing';
import { BY } from '../support/jobs/acts';

class Jobs {
  constructor(private readonly work: (run: CurrentRun) => unknown) {}

  @SchedulerLock('close-day', '10m')
  @OncePerDay({ timeZone: 'Europe/Paris', retry: { initialDelay: '10m' } })
  async closeDay(): Promise<unknown> {
    return await this.work(currentRun());
  }

  @SchedulerLock('lock-only', '10m')
  async lockOnly(): Promise<unknown> {
    return await Promise.resolve(currentRun());
  }
}

const KEY = { job: 'close-day', periodKey: '2026-11-20' };

let bench: TestGuard;
beforeEach(() => void (bench = useTestGuard({ now: '2026-11-20T03:00:00Z' })));
afterEach(() => bench.dispose());

void test('the handler can read which run it belongs to', async () => {
  const run = (await new Jobs((current) => current).closeDay()) as CurrentRun;
  assert.deepEqual(
    [run.job, run.scope, run.periodKey, run.businessDate],
    ['close-day', '', '2026-11-20', '2026-11-20'],
  );
  assert.equal(run.periodStart?.toISOString(), '2026-11-19T23:00:00.000Z');
  assert.equal(run.periodEnd?.toISOString(), '2026-11-20T23:00:00.000Z');
  assert.deepEqual([run.attempt, run.generation, run.isCatchUp, run.scheduledAt], [1, 0, false, undefined]);
  assert.equal(typeof run.fencingToken, 'number');
});

void test('outside a run, and in a job that has only a lock, currentRun throws and explains what to do', async () => {
  assert.throws(() => currentRun(), InvalidLockUseError);
  assert.throws(
    () => currentRun(),
    /If the code also runs elsewhere, call currentRun\(\{ optional: true \}\)\.$/,
  );
  assert.equal(currentRun({ optional: true }), undefined);
  await assert.rejects(
    new Jobs(() => {}).lockOnly(),
    /@OncePerDay, @OncePer or oncePer; in a test, inside asRun\(\)/,
  );
});

void test('the idempotency key is the same for every attempt, and differs after a rerun', async () => {
  const keys: string[] = [];
  const jobs = new Jobs((run) => {
    keys.push(run.idempotencyKey);
    if (keys.length === 1) throw new Error('no bank today');
  });
  await assert.rejects(jobs.closeDay(), /no bank/);
  bench.clock.advance('10m');
  await jobs.closeDay();
  await operations(bench.guard).rerun({ job: 'close-day' }, { ...BY, force: true });
  await jobs.closeDay();
  assert.deepEqual(keys, ['close-day//2026-11-20/0', 'close-day//2026-11-20/0', 'close-day//2026-11-20/1']);
});

void test('giveBack: the attempt does not count, and the run is due at once', async () => {
  const skipped = bench.next('run:skipped');
  const attempts: number[] = [];
  const jobs = new Jobs((run) => {
    attempts.push(run.attempt);
    if (attempts.length === 1) run.giveBack();
  });
  await jobs.closeDay();
  assert.equal((await skipped).reason, 'given-back');
  assert.equal((await bench.guard.ledger.get(KEY))?.state, 'pending');
  await jobs.closeDay();
  assert.deepEqual(attempts, [1, 1]);
  assert.equal((await bench.guard.ledger.get(KEY))?.state, 'completed');
});

void test('skip: the period is skipped, for the reason that the job gave', async () => {
  const skipped = bench.next('run:skipped');
  await new Jobs((run) => run.skip('a bank holiday')).closeDay();
  assert.equal((await skipped).reason, 'skipped');
  assert.equal(await new Jobs(() => assert.fail('ran')).closeDay(), undefined);
  const run = await bench.guard.ledger.get(KEY);
  assert.deepEqual([run?.state, run?.reason], ['skipped', 'job']);
  const [event] = await bench.guard.ledger.history(KEY);
  assert.deepEqual([event?.kind, event?.detail], ['skipped', 'a bank holiday']);
});

void test('a job that gives its run back and then throws has given it back', async () => {
  const jobs = new Jobs((run) => {
    run.giveBack();
    throw new Error('stopped early');
  });
  await assert.rejects(jobs.closeDay(), /stopped early/);
  const run = await bench.guard.ledger.get(KEY);
  assert.deepEqual([run?.state, run?.attempt], ['pending', 0]);
});

void test('after the handler has settled the run can no longer be changed', async () => {
  const run = (await new Jobs((current) => current).closeDay()) as CurrentRun;
  assert.throws(() => run.giveBack(), /has already settled/);
  assert.throws(() => run.skip('too late'), InvalidLockUseError);
});
