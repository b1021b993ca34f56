import assert from 'node:assert/strict';
import { test } from 'node:test';
import { currentLock, InvalidLockConfigurationError, SchedulerLock } from 'cronlatch';
import { useTestGuard } from 'cronlatch/testing';

// In a file of its own: what is decorated once must be fit for every guard of the process.
const LONG_NAME = 'monthly-statement-of-account-for-customers-with-a-framework-agreement';

class Jobs {
  @SchedulerLock({ name: LONG_NAME, nameLength: 100 })
  async sendStatements(): Promise<number | undefined> {
    return await Promise.resolve(currentLock().remainingMs());
  }
}

void test('defaultLockAtMostFor and nameLength are those of the application', async () => {
  await using testGuard = useTestGuard({ defaultLockAtMostFor: '5m', nameLength: 100 });
  assert.equal(await new Jobs().sendStatements(), 300_000);
  assert.ok(await testGuard.lockProvider.lock({ name: LONG_NAME, lockAtMostFor: '1m' }));
});

void test('a decorated method that the test guard could not run is reported at once', () => {
  assert.throws(() => useTestGuard({ nameLength: 100 }), InvalidLockConfigurationError);
  assert.throws(() => useTestGuard({ defaultLockAtMostFor: '5m' }), InvalidLockConfigurationError);
});
