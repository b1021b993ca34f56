import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { CronlatchError, JobSkippedError, OncePerDay, SchedulerLock } from 'cronlatch';
import { useTestGuard, type TestGuard } from 'cronlatch/testing';

const NO_BANK = new Error('no bank today');

class Jobs {
  @SchedulerLock({ name: 'export-orders', lockAtMostFor: '1m', onSkip: 'throw' })
  async exportOrders(): Promise<number> {
    return await Promise.resolve(3);
  }

  @OncePerDay({ name: 'close-day', timeZone: 'UTC', onSkip: 'throw' })
  async closeDay(): Promise<string> {
    return await Promise.resolve('closed');
  }

  @SchedulerLock({ name: 'failing', lockAtMostFor: '1m', onSkip: 'throw' })
  async failing(): Promise<void> {
    await Promise.reject(NO_BANK);
  }

  @SchedulerLock({ name: 'quiet', lockAtMostFor: '1m', onSkip: 'resolve' })
  async quiet(): Promise<number | undefined> {
    return await Promise.resolve(3);
  }
}

let bench: TestGuard;
beforeEach(() => void (bench = useTestGuard({ defaultLockAtMostFor: '1m' })));
afterEach(() => bench.dispose());

void test("with onSkip 'throw', a call that runs resolves to its value, and a skipped call rejects with the reason", async () => {
  const jobs = new Jobs();
  const orders: number = await jobs.exportOrders();
  assert.equal(orders, 3);
  await bench.lockProvider.lock({ name: 'export-orders', lockAtMostFor: '1m' });
  await assert.rejects(jobs.exportOrders(), (error) => {
    assert.ok(error instanceof JobSkippedError && error instanceof CronlatchError);
    assert.deepEqual(
      [error.name, error.code, error.reason, error.message],
      [
        ...['JobSkippedError', 'CRONLATCH_JOB_SKIPPED', 'locked'],
        "The job with lock 'export-orders' was skipped: locked.",
      ],
    );
    return true;
  });
});

void test('a call of a completed period rejects, too', async () => {
  const jobs = new Jobs();
  assert.equal(await jobs.closeDay(), 'closed');
  await assert.rejects(jobs.closeDay(), { name: 'JobSkippedError', reason: 'already-completed' });
});

void test('the error of the job is its own', async () => {
  await assert.rejects(new Jobs().failing(), NO_BANK);
});

void test("with onSkip 'resolve', a skipped call resolves to undefined", async () => {
  await bench.lockProvider.lock({ name: 'quiet', lockAtMostFor: '1m' });
  assert.equal(await new Jobs().quiet(), undefined);
});

void test('another value is refused before the method is ever called', () => {
  const onSkip = 'reject' as 'throw';
  const message = `onSkip of job 'job' is "reject": it must be 'resolve' or 'throw'.`;
  assert.throws(() => SchedulerLock({ name: 'job', onSkip }), { message });
  assert.throws(() => OncePerDay({ name: 'job', timeZone: 'UTC', onSkip }), { message });
  assert.throws(() => bench.guard.wrap({ name: 'job' }, () => {}, { onSkip }), { message });
});

void test("a wrapped function with onSkip 'throw' rejects if it is skipped, regardless of onError", async () => {
  const job = { name: 'job', lockAtMostFor: '1m' };
  const wrapped = bench.guard.wrap(job, () => 1, { onSkip: 'throw', onError: 'report' });
  assert.equal(await wrapped(), 1);
  await bench.lockProvider.lock(job);
  await assert.rejects(wrapped(), { name: 'JobSkippedError', reason: 'locked' });
});
