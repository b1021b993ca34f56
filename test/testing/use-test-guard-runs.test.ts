import assert from 'node:assert/strict';
import { test } from 'node:test';
import { currentRun, LockStorageError, OncePerDay, SchedulerLock } from 'cronlatch';
import { createJobGuard, Memory } from 'cronlatch/memory';
import { useTestGuard } from 'cronlatch/testing';

class Jobs {
  constructor(private readonly work: () => unknown = () => currentRun().periodKey) {}

  @SchedulerLock('close-day', '10m')
  @OncePerDay({ timeZone: 'Europe/Paris', retry: { initialDelay: '10m' } })
  async closeDay(): Promise<unknown> {
    return await this.work();
  }
}

void test('a once-per job runs once per day of the clock', async () => {
  await using testGuard = useTestGuard({ now: '2026-11-20T03:00:00Z' });
  const jobs = new Jobs();
  assert.equal(await jobs.closeDay(), '2026-11-20');
  assert.equal(await jobs.closeDay(), undefined);
  testGuard.clock.advance('1d');
  assert.equal(await jobs.closeDay(), '2026-11-21');
});

void test('a statement fails as in an outage of the database', async () => {
  await using testGuard = useTestGuard({ now: '2026-11-20T03:00:00Z' });
  const { guard, memory } = testGuard;
  const outage = new LockStorageError('The database is down.', { outcome: 'nothing-ran' });
  const jobs = new Jobs(() => 'all closed');
  memory.failNext(outage);
  const failed = testGuard.next('lock:failed');
  await assert.rejects(jobs.closeDay(), outage);
  assert.equal((await failed).error, outage);
  assert.equal(await jobs.closeDay(), 'all closed');
  assert.equal((await guard.ledger.last('close-day'))?.state, 'completed');
});

void test('guards on one memory play instances that exclude each other', async () => {
  const memory = new Memory();
  const [one, other] = [createJobGuard(memory, { logger: false }), createJobGuard(memory, { logger: false })];
  const job = {
    name: 'close-day',
    lockAtMostFor: '1m',
    oncePer: { period: 'day', timeZone: 'UTC' },
  } as const;
  assert.equal((await one.run(job, () => 'ran')).executed, true);
  assert.equal((await other.run(job, () => assert.fail('ran twice'))).executed, false);
  await one.close();
  await other.close();
});

void test('nothing is retried in the background of the test', async () => {
  await using testGuard = useTestGuard();
  const failing = testGuard.guard.wrap(
    { name: 'failing', lockAtMostFor: '1m', oncePer: { period: 'day', timeZone: 'UTC' } },
    () => Promise.reject(new Error('no paper')),
  );
  await failing();
  assert.equal(testGuard.clock.pendingTimers, 0);
  testGuard.clock.advance('1m');
  assert.deepEqual(await testGuard.guard.runOverdue(), { started: 1, overdue: 0 });
});

void test('runs of an earlier test guard are forgotten', async () => {
  for (let test = 0; test < 2; test += 1) {
    await using testGuard = useTestGuard({ now: '2026-11-20T03:00:00Z' });
    assert.equal(await new Jobs().closeDay(), '2026-11-20');
    assert.equal((await testGuard.guard.ledger.list({})).length, 1);
  }
});
