import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DataSource } from 'typeorm';
import { createCronlatchMigration, TypeOrmLockProvider } from 'cronlatch/typeorm';

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
