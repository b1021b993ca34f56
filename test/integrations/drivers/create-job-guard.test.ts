import assert from 'node:assert/strict';
import type { JobConfiguration, JobGuard } from 'cronlatch';
import { closing } from '../../support/benches/closing';
import { testDrivers, type DriverBench } from '../../support/benches/driver';

const LOCK = { name: 'job', lockAtMostFor: '1m' } as const;
const DAILY: JobConfiguration = {
  name: 'close-day',
  lockAtMostFor: '1m',
  oncePer: { period: 'day', timeZone: 'Europe/Paris' },
};

async function withGuard(
  bench: DriverBench,
  source: unknown,
  options: object,
  use: (guard: JobGuard) => Promise<void>,
): Promise<void> {
  await using guard = closing(await bench.createJobGuard(source, { pollInterval: false, ...options }));
  await use(guard);
}

async function runsOnce(guard: JobGuard): Promise<void> {
  const { executed } = await guard.run(LOCK, async ({ fencingToken }) => {
    assert.ok(fencingToken);
    assert.deepEqual(await guard.run({ ...LOCK, name: 'other' }, () => 1), { executed: true, value: 1 });
  });
  assert.equal(executed, true);
  assert.equal((await guard.run(DAILY, () => 'done')).executed, true);
  assert.deepEqual(await guard.run(DAILY, () => 'again'), { executed: false, reason: 'already-completed' });
}

testDrivers('a guard from an address runs jobs, on tables that createTables has created', async (bench) => {
  await bench.createTables();
  assert.deepEqual(await bench.verifySchema(), []);
  await withGuard(bench, bench.url, {}, runsOnce);
});

testDrivers('a guard from a pool runs jobs on connections of its own', async (bench) => {
  await bench.createTables(bench.pool());
  await withGuard(bench, bench.pool(), {}, runsOnce);
  assert.deepEqual(await bench.query('SELECT 1 AS one'), [{ one: 1 }]);
});

testDrivers('two calls of createTables at once both succeed, and a third changes nothing', async (bench) => {
  await Promise.all([bench.createTables(), bench.createTables()]);
  await bench.createTables();
  assert.deepEqual(await bench.verifySchema(), []);
});
