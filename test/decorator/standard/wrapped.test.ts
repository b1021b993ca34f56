import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configureJobGuard, InvalidLockUseError, LockAssert, OncePerDay, SchedulerLock } from 'cronlatch';
import { guardOfRuns } from '../../support/benches/guard-of-runs';
import { calling } from '../../support/jobs/both-modes';

void test('a foreign wrapper between the lock and the period is rejected with the first instance, because it hides one', () => {
  class Jobs {
    @SchedulerLock('hiding', '1m')
    @calling
    @OncePerDay({ name: 'hidden', timeZone: 'UTC' })
    async closeDay(): Promise<void> {}
  }
  assert.throws(
    () => new Jobs(),
    (error) =>
      error instanceof InvalidLockUseError &&
      /^Method 'closeDay' needs @SchedulerLock next to @OncePer…/.test(error.message),
  );
});

void test('a foreign wrapper between the lock and the period of a field runs outside of both', async () => {
  const { guard } = guardOfRuns({ defaultLockAtMostFor: '1m' });
  configureJobGuard(guard);
  const order: string[] = [];
  const noted =
    (_value: undefined, _context: ClassFieldDecoratorContext) =>
    (initial: () => Promise<void>): (() => Promise<void>) =>
    async () => {
      order.push('wrapper');
      await initial();
    };
  class Jobs {
    @SchedulerLock('field', '1m')
    @noted
    @OncePerDay({ timeZone: 'UTC' })
    closeDay = async (): Promise<void> => {
      LockAssert.assertLocked('field');
      await Promise.resolve(order.push('job'));
    };
  }
  const jobs = new Jobs();
  await jobs.closeDay();
  await jobs.closeDay();
  configureJobGuard(undefined);
  await guard.close();
  assert.deepEqual(order, ['wrapper', 'job', 'wrapper']);
});
