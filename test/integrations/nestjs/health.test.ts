import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LockStorageError } from 'cronlatch';
import { CronlatchHealthIndicator, CronlatchModule, type CronlatchHealth } from 'cronlatch/nestjs';
import { refusedConnection } from '../../support/faults/accessor';
import { guardBench, reasonOf } from '../../support/benches/guard';
import { testWith } from '../../support/databases/fresh';
import { JOB } from '../../support/benches/lock';
import { application, databaseModule } from './application';

/** The result of an indicator of @nestjs/terminus. */
type HealthIndicatorResult = Record<string, { status: 'up' | 'degraded' | 'down' } & Record<string, unknown>>;

testWith(
  'sqlite',
  'an application whose lock store answers is up, and it is down while it closes',
  async (database) => {
    const app = await application({ imports: [databaseModule(database), CronlatchModule.forRoot()] });
    await app.init();
    const indicator = app.get(CronlatchHealthIndicator);
    const result: HealthIndicatorResult = await indicator.isHealthy();
    assert.deepEqual(result, { cronlatch: { status: 'up', isClosing: false } });
    await app.close();
    assert.deepEqual(await indicator.isHealthy('locks'), { locks: { status: 'down', isClosing: true } });
  },
);

void test('a store that fails is down, with an error code as the reason', async () => {
  const { guard, accessor } = guardBench();
  const indicator = new CronlatchHealthIndicator(guard);
  const secret = new LockStorageError('refused for user:password@db', { driverCode: 'ECONNREFUSED' });
  accessor.fail('find', () => Promise.reject(secret));
  const { cronlatch } = await indicator.isHealthy();
  assert.deepEqual(cronlatch, { status: 'down', isClosing: false, error: 'ECONNREFUSED' });
  assert.equal((await indicator.isHealthy()).cronlatch.status, 'up');
});

void test('a store that stays silent is down after the timeout', async () => {
  const { guard, accessor, drive } = guardBench();
  accessor.fail('find', () => new Promise(() => {}));
  const { cronlatch } = await drive(
    new CronlatchHealthIndicator(guard).isHealthy('cronlatch', { timeout: '3s' }),
  );
  assert.deepEqual(cronlatch, { status: 'down', isClosing: false, error: 'CRONLATCH_STORAGE' });
});

void test('the last job that did not run because its lock failed is shown, also after the store has recovered', async () => {
  const { guard, accessor } = guardBench();
  const indicator = new CronlatchHealthIndicator(guard);
  accessor.fail('updateRecord', refusedConnection);
  await reasonOf(guard.run(JOB, () => {}));
  const { lastFailure, ...rest }: CronlatchHealth = (await indicator.isHealthy()).cronlatch;
  assert.deepEqual(rest, { status: 'up', isClosing: false });
  assert.deepEqual({ ...lastFailure, at: '' }, { name: 'job', at: '', error: 'CRONLATCH_STORAGE' });
  assert.ok(Date.parse(lastFailure?.at ?? '') <= Date.now());
});
