import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { DataSource } from 'typeorm';
import { LockStorageError, type LockConfiguration } from 'cronlatch';
import { createCronlatchMigration, createJobGuard, TypeOrmLockProvider } from 'cronlatch/typeorm';
import { sqliteDatabase, type TestDatabase } from '../../support/databases/fresh';
import { lockRows, migratedDataSource } from '../../support/databases/lock-table';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '1m' };
const migrations = [createCronlatchMigration({ tables: ['lock'] })];

function otherWriter({ environment }: TestDatabase): InstanceType<typeof Database> {
  return new Database(environment['DATABASE_FILE'] ?? '', { timeout: 0 });
}

void test('while another process writes, the lock is requested again without blocking the event loop (F-55)', async () => {
  const database = sqliteDatabase();
  const dataSource = await migratedDataSource(database);
  const provider = new TypeOrmLockProvider(dataSource);
  const writer = otherWriter(database);
  writer.exec('BEGIN IMMEDIATE');
  const locking = provider.lock(JOB);
  let turns = 0;
  while (turns < 1000) {
    await new Promise((resolve) => setImmediate(resolve));
    turns += 1;
  }
  writer.exec('COMMIT');
  assert.ok(await locking);
  await provider.close();
  await dataSource.destroy();
  writer.close();
  await database.dispose();
});

void test('a file that stays busy is an error that names it, and nothing is granted afterwards (F-55)', async () => {
  const database = sqliteDatabase();
  const dataSource = await migratedDataSource(database);
  const provider = new TypeOrmLockProvider(dataSource, { statementTimeout: '200ms' });
  const writer = otherWriter(database);
  writer.exec('BEGIN IMMEDIATE');
  await assert.rejects(provider.lock(JOB), {
    code: 'CRONLATCH_STORAGE',
    outcome: 'contention',
    driverCode: 'SQLITE_BUSY',
  });
  writer.exec('COMMIT');
  assert.deepEqual(await lockRows(dataSource), []);
  await provider.close();
  await dataSource.destroy();
  writer.close();
  await database.dispose();
});

void test('a file in rollback mode is used as it is, with one warning', async () => {
  const database = sqliteDatabase();
  const dataSource = await migratedDataSource(database, { enableWAL: false });
  const warnings: string[] = [];
  const guard = await createJobGuard(dataSource, {
    logger: { warn: (line) => void warnings.push(line), error: () => assert.fail() },
  });
  for (const name of ['a', 'b']) assert.equal((await guard.run({ ...JOB, name }, () => {})).executed, true);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', /rollback mode/);
  assert.deepEqual(await dataSource.query('PRAGMA journal_mode'), [{ journal_mode: 'delete' }]);
  await guard.close();
  await dataSource.destroy();
  await database.dispose();
});

void test('our statements do not join a transaction of the application in the same file', async () => {
  const database = sqliteDatabase();
  const dataSource = await migratedDataSource(database);
  const guard = await createJobGuard(dataSource);
  const rolledBack = dataSource.transaction(async () => {
    // Nothing is written yet: in WAL mode a reader does not block our commit.
    assert.equal((await guard.run(JOB, () => {})).executed, true);
    throw new Error('roll back');
  });
  await assert.rejects(rolledBack, { message: 'roll back' });
  assert.equal((await lockRows(dataSource)).length, 1);
  await guard.close();
  await dataSource.destroy();
  await database.dispose();
});

async function inMemory(): Promise<DataSource> {
  const dataSource = new DataSource({ type: 'better-sqlite3', database: ':memory:', migrations });
  await dataSource.initialize();
  await dataSource.runMigrations();
  return dataSource;
}

void test('a database in memory is shared, because it cannot be opened twice', async () => {
  const dataSource = await inMemory();
  const guard = await createJobGuard(dataSource);
  assert.equal((await guard.run(JOB, () => {})).executed, true);
  assert.equal((await lockRows(dataSource)).length, 1);
  await guard.close();
  assert.equal(dataSource.isInitialized, true);
  await dataSource.destroy();
});

void test('on a shared handle a statement waits for the end of the application’s transaction, and does not join it', async () => {
  const dataSource = await inMemory();
  const provider = new TypeOrmLockProvider(dataSource);
  let locking: Promise<unknown> = Promise.resolve();
  const rolledBack = dataSource.transaction(async (manager) => {
    await manager.query(`INSERT INTO shedlock VALUES ('app', 0, 0, 'app', 1)`);
    locking = provider.lock(JOB);
    await new Promise((resolve) => setImmediate(resolve));
    throw new Error('roll back');
  });
  await assert.rejects(rolledBack, { message: 'roll back' });
  assert.ok(await locking);
  assert.deepEqual(
    (await lockRows(dataSource)).map(({ name }) => name),
    ['job'],
  );
  await dataSource.destroy();
});

void test('on a shared handle that stays inside a transaction no statement runs, and the error names the reason', async () => {
  const dataSource = await inMemory();
  const provider = new TypeOrmLockProvider(dataSource, { statementTimeout: '100ms' });
  await dataSource.transaction(async () => {
    await assert.rejects(
      provider.lock(JOB),
      (error) =>
        error instanceof LockStorageError &&
        error.outcome === 'nothing-ran' &&
        /the application kept the connection .* inside a transaction/.test(error.message),
    );
  });
  assert.deepEqual(await lockRows(dataSource), []);
  await dataSource.destroy();
});

void test('if the database cannot grow, a lock that needs space is an error, and one that needs none is granted (F-51)', async () => {
  const dataSource = await inMemory();
  const provider = new TypeOrmLockProvider(dataSource);
  await (await provider.lock(JOB))?.unlock();
  const [size] = await dataSource.query<{ page_count: number }[]>('PRAGMA page_count');
  await dataSource.query(`PRAGMA max_page_count = ${size?.page_count ?? 0}`);
  let taken = 0;
  const untilFull = async (): Promise<never> => {
    for (;;) {
      assert.ok(await provider.lock({ ...JOB, name: `job-${taken}` }));
      taken += 1;
    }
  };
  await assert.rejects(untilFull(), {
    code: 'CRONLATCH_STORAGE',
    outcome: 'nothing-ran',
    driverCode: 'SQLITE_FULL',
  });
  assert.equal((await lockRows(dataSource)).length, taken + 1);
  assert.equal(await (await provider.lock(JOB))?.unlock(), true);
  await dataSource.query('PRAGMA max_page_count = 1000');
  assert.ok(await provider.lock({ ...JOB, name: `job-${taken}` }));
  await dataSource.destroy();
});

void test('a database in memory whose DataSource is not initialized is an error that names the reason (F-87)', async () => {
  const dataSource = new DataSource({ type: 'better-sqlite3', database: ':memory:' });
  await assert.rejects(
    createJobGuard(dataSource),
    /Cannot open SQLite \(:memory:\): the DataSource .* is not initialized/,
  );
});

void test('a file in a folder that is a file cannot be opened, and the error names it', async () => {
  const database = sqliteDatabase();
  const dataSource = await migratedDataSource(database);
  const path = `${database.environment['DATABASE_FILE']}/below.sqlite`;
  await assert.rejects(
    createJobGuard(new DataSource({ type: 'better-sqlite3', database: path })),
    (error) => error instanceof LockStorageError && error.message.includes(path),
  );
  await dataSource.destroy();
  await database.dispose();
});
