import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  configureJobGuard,
  currentLock,
  JobGuard,
  LockLostError,
  NotConfiguredError,
  SchedulerLock,
  type Lock,
} from 'cronlatch';
import { InMemoryLockProvider } from 'cronlatch/memory';
import { useTestGuard } from 'cronlatch/testing';

const CLOSE_DAY = { name: 'close-day', lockAtMostFor: '10m' } as const;

class Jobs {
  constructor(private readonly work: (lock: Lock | undefined) => unknown = () => 'done') {}

  @SchedulerLock(CLOSE_DAY)
  async closeDay(): Promise<unknown> {
    return await this.work(currentLock());
  }

  @SchedulerLock({ ...CLOSE_DAY, name: 'import', keepAlive: true })
  async import(): Promise<unknown> {
    return await this.work(currentLock());
  }
}

void test('a guarded method runs under the lock of the test guard', async () => {
  await using testGuard = useTestGuard();
  const acquired = testGuard.next('lock:acquired');
  const released = testGuard.next('lock:released');
  const answer = await new Jobs((lock) => lock?.name).closeDay();
  assert.equal(answer, 'close-day');
  assert.equal((await acquired).name, 'close-day');
  assert.equal((await released).stillOurs, true);
});

void test('the guard of the application steps aside, and comes back', async () => {
  const application = new JobGuard({ lockProvider: new InMemoryLockProvider() });
  const seen: string[] = [];
  application.on('run:started', () => void seen.push('application'));
  configureJobGuard(application);
  try {
    const testGuard = useTestGuard();
    testGuard.guard.on('run:started', () => void seen.push('test'));
    await new Jobs().closeDay();
    await testGuard.dispose();
    await new Jobs().closeDay();
    assert.deepEqual(seen, ['test', 'application']);
  } finally {
    configureJobGuard(undefined);
  }
});

void test('where there was no guard before, there is none afterwards, and the guard of the test is closed', async () => {
  const testGuard = useTestGuard();
  await testGuard.dispose();
  await assert.rejects(new Jobs().closeDay(), NotConfiguredError);
  assert.deepEqual(await testGuard.guard.run(CLOSE_DAY, () => 'ran'), { executed: false, reason: 'closing' });
});

void test('a lock that another instance holds makes the call resolve to undefined', async () => {
  await using testGuard = useTestGuard();
  const theirs = await testGuard.lockProvider.lock(CLOSE_DAY);
  const skipped = testGuard.next('lock:skipped');
  assert.equal(await new Jobs(() => assert.fail('the job ran')).closeDay(), undefined);
  assert.equal((await skipped).reason, 'locked');
  await theirs?.unlock();
  assert.equal(await new Jobs().closeDay(), 'done');
});

void test('a lock whose record an operator deleted is free', async () => {
  await using testGuard = useTestGuard();
  await testGuard.lockProvider.lock(CLOSE_DAY);
  assert.equal(testGuard.lockProvider.deleteRecord('close-day'), true);
  assert.equal(await new Jobs().closeDay(), 'done');
});

void test('the signal of the current lock aborts when the clock is moved past lockAtMostFor', async () => {
  await using testGuard = useTestGuard();
  const lost = testGuard.next('lock:lost');
  await new Jobs((lock) => {
    testGuard.clock.advance('9m');
    assert.equal(lock?.signal.aborted, false);
    assert.equal(lock.remainingMs(), 60_000);
    testGuard.clock.advance('1m');
    assert.equal(lock.signal.aborted, true);
    assert.ok(lock.signal.reason instanceof LockLostError);
    assert.equal(currentLock().signal.aborted, true);
  }).closeDay();
  assert.equal((await lost).name, 'close-day');
});

void test('the signal of a waiting job aborts as soon as its lease expires', async () => {
  await using testGuard = useTestGuard();
  const started = testGuard.next('run:started');
  const run = new Jobs((lock) => untilAborted(lock)).closeDay();
  await started;
  testGuard.clock.advance('10m');
  assert.ok((await run) instanceof LockLostError);
});

void test('a lock that is kept alive lives on when the clock moves from one renewal to the next', async () => {
  await using testGuard = useTestGuard();
  await new Jobs(async (lock) => {
    for (let renewal = 1; renewal <= 10; renewal += 1) {
      const extended = testGuard.next('lock:extended');
      testGuard.clock.advance('4m');
      await extended;
    }
    assert.equal(lock?.signal.aborted, false);
    assert.equal(await testGuard.lockProvider.lock({ ...CLOSE_DAY, name: 'import' }), undefined);
  }).import();
});

void test('next resolves to one event, the next', async () => {
  await using testGuard = useTestGuard();
  const first = testGuard.next('run:completed');
  await new Jobs(() => testGuard.clock.advance('1s')).closeDay();
  const second = testGuard.next('run:completed');
  await new Jobs(() => testGuard.clock.advance('2s')).closeDay();
  assert.deepEqual([(await first).durationMs, (await second).durationMs], [1000, 2000]);
});

void test('it logs nothing', async (t) => {
  await using testGuard = useTestGuard();
  const lines = [t.mock.method(console, 'error'), t.mock.method(console, 'warn')];
  const failed = testGuard.next('run:failed');
  await assert.rejects(new Jobs(() => assert.fail('the job failed')).closeDay());
  await failed;
  assert.deepEqual(
    lines.map(({ mock }) => mock.callCount()),
    [0, 0],
  );
});

void test('dispose does the same at the end of a block', async () => {
  {
    await using testGuard = useTestGuard();
    assert.equal(await new Jobs().closeDay(), 'done');
    assert.equal(testGuard.clock.pendingTimers, 0);
  }
  await assert.rejects(new Jobs().closeDay(), NotConfiguredError);
});

void test('dispose aborts the signal of a running job, and its lock is released', async () => {
  const testGuard = useTestGuard();
  const started = testGuard.next('run:started');
  const released = testGuard.next('lock:released');
  const run = new Jobs((lock) => untilAborted(lock)).closeDay();
  await started;
  await testGuard.dispose();
  assert.equal((await released).stillOurs, true);
  assert.equal(((await run) as Error).name, 'AbortError');
});

void test('dispose does not wait for a job that never ends, and needs no timer that a test has replaced', async (t) => {
  const testGuard = useTestGuard();
  const started = testGuard.next('run:started');
  void new Jobs(() => new Promise(() => {})).closeDay();
  await started;
  t.mock.timers.enable();
  await testGuard.dispose();
  await assert.rejects(new Jobs().closeDay(), NotConfiguredError);
});

void test('a second dispose does not touch the guard that was configured after the first', async () => {
  const first = useTestGuard();
  await first.dispose();
  await using second = useTestGuard();
  await first.dispose();
  const started = second.next('run:started');
  assert.equal(await new Jobs().closeDay(), 'done');
  await started;
});

/** Resolves to why. */
function untilAborted(lock: Lock | undefined): Promise<unknown> {
  return new Promise((resolve) => {
    lock?.signal.addEventListener('abort', () => resolve(lock.signal.reason), { once: true });
  });
}
