import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { currentLock, currentRun, LockAssert, LockNotHeldError, OncePerDay, SchedulerLock } from 'cronlatch';
import { type TestGuard, useTestGuard } from 'cronlatch/testing';

class Jobs {
  @SchedulerLock('by-position', '10m', '30s')
  async byPosition(): Promise<number | undefined> {
    return await Promise.resolve(currentLock().remainingMs());
  }

  @SchedulerLock({ name: 'by-object', lockAtMostFor: 'PT20M', lockAtLeastFor: 60_000 })
  async byObject(): Promise<number | undefined> {
    return await Promise.resolve(currentLock().remainingMs());
  }

  @SchedulerLock('by-default')
  async byDefault(): Promise<number | undefined> {
    return await Promise.resolve(currentLock().remainingMs());
  }

  @SchedulerLock('failing', '1m')
  async failing(error: Error): Promise<void> {
    await Promise.reject(error);
  }

  @SchedulerLock('synchronous', '1m')
  synchronous(): void {
    LockAssert.assertLocked('synchronous');
  }
}

let bench: TestGuard;
beforeEach(() => void (bench = useTestGuard({ defaultLockAtMostFor: '3m' })));
afterEach(() => bench.dispose());

const isHeld = async (name: string): Promise<boolean> => {
  const lock = await bench.lockProvider.lock({ name, lockAtMostFor: '1m' });
  await lock?.unlock();
  return lock === undefined;
};

void test('the method runs under its lock, for its own lockAtMostFor or for the default of the guard', async () => {
  assert.equal(await new Jobs().byPosition(), 600_000);
  assert.equal(await new Jobs().byObject(), 1_200_000);
  assert.equal(await new Jobs().byDefault(), 180_000);
});

for (const [method, name, lockAtLeastForMs] of [
  ['byPosition', 'by-position', 30_000],
  ['byObject', 'by-object', 60_000],
] as const) {
  void test(`${method} keeps its lock for lockAtLeastFor`, async () => {
    await new Jobs()[method]();
    bench.clock.advance(lockAtLeastForMs - 1);
    assert.equal(await isHeld(name), true);
    bench.clock.advance(1);
    assert.equal(await isHeld(name), false);
  });
}

void test('the method’s own error is rethrown unchanged (F-88)', async () => {
  for (const error of [new Error('mine'), 'text', null] as Error[])
    await assert.rejects(new Jobs().failing(error), (thrown) => thrown === error);
});

void test('a guarded synchronous method becomes asynchronous', async () => {
  const returned: unknown = new Jobs().synchronous();
  assert.ok(returned instanceof Promise);
  await returned;
});

void test('the lock is free when the method has settled', async () => {
  await new Jobs().byPosition();
  assert.equal(currentLock({ optional: true }), undefined);
  assert.throws(() => LockAssert.assertLocked('by-position'), LockNotHeldError);
});

void test('changing the configuration object after decorating has no effect', async () => {
  const configuration = { name: 'first', lockAtMostFor: '1m' };
  class Changed {
    @SchedulerLock(configuration)
    async job(): Promise<void> {}
  }
  configuration.name = 'second';
  const acquired = bench.next('lock:acquired');
  await new Changed().job();
  assert.equal((await acquired).name, 'first');
});

void test('a decorated method that only has a name gets every default of the guard', async () => {
  await bench.dispose();
  bench = useTestGuard({
    now: '2026-11-20T12:00:00Z',
    ...{ defaultLockAtMostFor: '3m', defaultLockAtLeastFor: '30s' },
    ...{ defaultKeepAlive: '20s', defaultTimeZone: 'Pacific/Kiritimati' },
  });
  const renewed = bench.next('lock:extended');
  class Defaults {
    @SchedulerLock('plain')
    async plain(): Promise<number | undefined> {
      await renewed;
      return currentLock().remainingMs();
    }

    @OncePerDay({ name: 'close-day' })
    async closeDay(): Promise<string | undefined> {
      return await Promise.resolve(currentRun().businessDate);
    }
  }
  const remaining = new Defaults().plain();
  await bench.next('run:started');
  bench.clock.advance('20s');
  assert.equal(await remaining, 180_000);
  assert.equal(await isHeld('plain'), true);
  bench.clock.advance('10s');
  assert.equal(await isHeld('plain'), false);
  assert.equal(await new Defaults().closeDay(), '2026-11-21');
});
