import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockUseError } from 'cronlatch';
import { completeRunIn, createJobGuard, inRunTransaction, TypeOrmLockProvider } from 'cronlatch/typeorm';
import { DAILY } from '../../support/benches/guard-of-runs';
import { closing } from '../../support/benches/closing';
import { JOB } from '../../support/benches/lock';
import { testOnEvery } from '../../support/databases/fresh';
import { ledgerDataSource } from '../../support/databases/run-tables';
import { TypeOrmRunStore } from '../../support/stores/typeorm-run-store';

class RunAtStart1 {
  name = 'RunAtStart1';
  up = (): never => assert.fail('a migration ran');
  down = this.up;
}

testOnEvery('a guard from the options of a DataSource keeps locks and runs, and closes', async (database) => {
  const application = await ledgerDataSource(database);
  const options = { ...database.options, migrations: [RunAtStart1], migrationsRun: true, dropSchema: true };
  const guard = await createJobGuard(options, { logger: false });
  try {
    const result = await guard.run(DAILY, () =>
      application.transaction(async (manager) => await completeRunIn(manager, { result: 3 })),
    );
    assert.equal(result.executed, true);
    const { state, result: stored } = (await guard.ledger.last('close-day')) ?? {};
    assert.deepEqual([state, stored], ['completed', '3']);
    const locks: unknown = await application.query(
      `SELECT name FROM shedlock WHERE name <> 'cronlatch-place'`,
    );
    assert.deepEqual(locks, [{ name: 'close-day' }]);
  } finally {
    await guard.close();
    await application.destroy();
  }
});

testOnEvery('inRunTransaction reports that the guard needs the DataSource itself', async (database) => {
  await (await ledgerDataSource(database)).destroy();
  await using guard = closing(await createJobGuard(database.options, { logger: false }));
  const work = (): never => assert.fail('ran');
  await assert.rejects(
    guard.run(DAILY, () => inRunTransaction(work)),
    (error) =>
      error instanceof InvalidLockUseError &&
      /^inRunTransaction\(\) needs a connected DataSource\. Pass createJobGuard\(\) the DataSource, not its options/.test(
        error.message,
      ),
  );
  assert.equal((await guard.ledger.last('close-day'))?.state, 'failed');
});

testOnEvery('a lock provider and a run store take the options of a DataSource too', async (database) => {
  await (await ledgerDataSource(database)).destroy();
  await using store = closing(new TypeOrmRunStore(database.options));
  assert.deepEqual((await store.jobs({ timeoutMs: 5000 })).jobs, []);
  await using provider = closing(new TypeOrmLockProvider(database.options));
  await using lock = await provider.lock(JOB);
  assert.equal(lock?.name, 'job');
});

void test('databases that options cannot lead to are refused', async () => {
  const refused = (message: RegExp) => ({ name: 'InvalidLockConfigurationError', message });
  await assert.rejects(
    createJobGuard({ type: 'better-sqlite3', database: ':memory:' }),
    refused(
      /^A database in memory exists only in a connected DataSource\. Pass the DataSource, not its options\.$/,
    ),
  );
});
