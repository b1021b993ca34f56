import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { currentLock, currentRun, OncePerDay, SchedulerLock } from 'cronlatch';
import { useTestGuard, type TestGuard } from 'cronlatch/testing';

class Jobs {
  renewed: Promise<unknown> = Promise.resolve();

  @SchedulerLock('plain')
  async plain(): Promise<number | undefined> {
    await this.renewed;
    return currentLock().remainingMs();
  }

  @OncePerDay({ name: 'close-day' })
  async closeDay(): Promise<string | undefined> {
    return await Promise.resolve(currentRun().businessDate);
  }
}

let bench: TestGuard;
beforeEach(() => {
  bench = useTestGuard({
    now: '2026-11-20T12:00:00Z',
    ...{ defaultLockAtMostFor: '3m', defaultLockAtLeastFor: '30s' },
    ...{ defaultKeepAlive: '20s', defaultTimeZone: 'Pacific/Kiritimati' },
  });
});
afterEach(async () => await bench.dispose());

void test('a decorated method that only has a name gets every default of the guard', async () => {
  const jobs = new Jobs();
  jobs.renewed = bench.next('lock:extended');
  const remaining = jobs.plain();
  await bench.next('run:started');
  bench.clock.advance('20s');
  assert.equal(await remaining, 180_000);
  assert.equal(await bench.lockProvider.lock({ name: 'plain', lockAtMostFor: '1m' }), undefined);
  bench.clock.advance('10s');
  assert.ok(await bench.lockProvider.lock({ name: 'plain', lockAtMostFor: '1m' }));
});

void test('a decorated once-per method without a time zone runs in the guard’s default time zone', async () => {
  assert.equal(await new Jobs().closeDay(), '2026-11-21');
});
