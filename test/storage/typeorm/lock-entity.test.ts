import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { DataSource } from 'typeorm';
import { LockStorageError } from 'cronlatch';
import { createCronlatchMigration, createJobGuard, TypeOrmLockProvider } from 'cronlatch/typeorm';
import { mysqlDatabase, sqliteDatabase, testOn } from '../../support/databases/fresh';

testOn('mysql', 'the table can be in another database of the server', async () => {
  const database = await mysqlDatabase();
  const other = await mysqlDatabase();
  const migrations = [createCronlatchMigration({ tables: ['lock'], schema: other.name })];
  const dataSource = new DataSource({ ...database.options, migrations });
  await dataSource.initialize();
  await dataSource.runMigrations();
  await dataSource.runMigrations();
  const guard = await createJobGuard(dataSource, { lockTable: `${other.name}.shedlock` });
  assert.equal((await guard.run({ name: 'job', lockAtMostFor: '1m' }, () => {})).executed, true);
  const [rows] = await other.root.query(`SELECT name FROM shedlock WHERE name <> 'cronlatch-place'`);
  assert.deepEqual(rows, [{ name: 'job' }]);
  await guard.close();
  await dataSource.destroy();
  await database.dispose();
  await other.dispose();
});

void test('a migration for unknown tables is refused', () => {
  for (const tables of [[], ['locks'], ['lock', 'ledger'], ['lock', 'lock']] as unknown as ['lock'][]) {
    assert.throws(() => createCronlatchMigration({ tables }), {
      code: 'CRONLATCH_INVALID_CONFIGURATION',
      message:
        /^tables is .*: leave it out for all tables, or use \['lock'\], \['ledger'\], \['jobs'\], \['operations'\] or \['row-lock'\]\.$/,
    });
  }
});

void test('each table has its own migration, whose name ends with the timestamp', () => {
  const nameOf = (lockTable?: string) =>
    new (createCronlatchMigration({ tables: ['lock'], lockTable }))().name;
  assert.equal(nameOf(), 'CronlatchLockTable1763596800000');
  assert.equal(nameOf('locks'), 'CronlatchLockTable_locks_1763596800000');
  assert.equal(nameOf('app_locks'), 'CronlatchLockTable_app_locks_1763596800000');
  assert.equal(nameOf('ops.locks'), 'CronlatchLockTable_ops_locks_1763596800000');
  const alike = ['a.b_c', 'a_b.c', 'a_b_c', 'a$b_c'].map((table) => nameOf(table));
  assert.equal(new Set(alike).size, alike.length, alike.join());
});

void test('a missing file is reported, and is not created', async () => {
  const testDatabase = sqliteDatabase();
  const database = testDatabase.environment['DATABASE_FILE'] ?? '';
  await assert.rejects(createJobGuard(new DataSource({ type: 'better-sqlite3', database })), (error) => {
    return error instanceof LockStorageError && error.message.includes(database);
  });
  assert.equal(existsSync(database), false);
  await testDatabase.dispose();
});

void test('an invalid value of connections is refused', () => {
  const dataSource = new DataSource({ type: 'better-sqlite3', database: ':memory:' });
  for (const [connections, shown] of [
    ['pool' as 'own', '"pool"'],
    ['shared' as 'own', '"shared"'],
    [1, '1'],
    [2.5, '2.5'],
    [Infinity, 'Infinity'],
  ] as const)
    assert.throws(() => new TypeOrmLockProvider(dataSource, { connections }), {
      name: 'InvalidLockConfigurationError',
      message: `connections is ${shown}: use 'own', or a whole number of at least 2.`,
    });
});
