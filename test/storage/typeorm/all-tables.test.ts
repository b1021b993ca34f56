import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DataSource, DefaultNamingStrategy } from 'typeorm';
import {
  createCronlatchEntities,
  createCronlatchMigration,
  createJobGuard,
  verifySchema,
} from 'cronlatch/typeorm';
import { createMissingTables } from '#cronlatch/integrations/sql/tables';
import { databaseOf } from '#cronlatch/storage/typeorm/database';
import { closing } from '../../support/benches/closing';
import { SERVER_NAMES, testOnEvery, type TestDatabase } from '../../support/databases/fresh';

const SETS = ['lock', 'ledger', 'jobs', 'operations'] as const;
const DAILY = {
  name: 'close-day',
  lockAtMostFor: '1m',
  oncePer: { period: 'day', timeZone: 'UTC' },
} as const;

async function connect({ options }: TestDatabase, more: object): Promise<DataSource> {
  return await new DataSource({ ...options, ...more }).initialize();
}

/** What is wrong with any table of the locks, the ledger, the register and the operations. */
async function problemsOf(dataSource: DataSource): Promise<string[]> {
  const findings = await verifySchema(dataSource);
  return findings.map(({ message }) => message);
}

async function migrate(database: TestDatabase, migrations: readonly unknown[]): Promise<number> {
  await using dataSource = closing(await connect(database, { migrations }));
  return (await dataSource.runMigrations()).length;
}

testOnEvery('one migration creates all tables, can run twice, and can be undone', async (database) => {
  const Migration = createCronlatchMigration();
  await using dataSource = closing(await connect(database, { migrations: [Migration] }));
  await dataSource.runMigrations();
  assert.deepEqual(await problemsOf(dataSource), []);
  const runner = dataSource.createQueryRunner();
  await new Migration().up(runner);
  await runner.release();
  await dataSource.undoLastMigration();
  assert.equal((await problemsOf(dataSource)).length, 7);
});

/** What these queries return after a migration was undone on a database that another program has prepared. */
async function leftAfterUndoing(
  database: TestDatabase,
  prepare: (dataSource: DataSource) => Promise<unknown>,
  queries: readonly string[],
): Promise<unknown[]> {
  await using dataSource = closing(await connect(database, { migrations: [createCronlatchMigration()] }));
  await prepare(dataSource);
  await dataSource.runMigrations();
  await dataSource.undoLastMigration();
  const answers: unknown[] = [];
  for (const query of queries) answers.push(await dataSource.query(query));
  return answers;
}

const OF_JAVA = `CREATE TABLE shedlock (name VARCHAR(64) NOT NULL PRIMARY KEY, lock_until TIMESTAMP(3) NOT NULL,
  locked_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), locked_by VARCHAR(255) NOT NULL)`;

testOnEvery(
  'undoing the migration leaves a table of ShedLock for Java, also an empty one',
  async (database) => {
    const held = `INSERT INTO shedlock VALUES ('payroll', '2037-01-01', '2026-11-20', 'java-host')`;
    for (const [text, locks] of [
      [OF_JAVA, []],
      [held, [{ name: 'payroll' }]],
    ] as const) {
      const prepare = (dataSource: DataSource): Promise<unknown> => dataSource.query(text);
      assert.deepEqual(await leftAfterUndoing(database, prepare, ['SELECT name FROM shedlock']), [locks]);
    }
  },
  SERVER_NAMES,
);

testOnEvery(
  'undoing the migration leaves tables that have been used, with what they hold',
  async (database) => {
    const use = async (dataSource: DataSource): Promise<void> => {
      await createMissingTables(databaseOf(dataSource), {});
      await using guard = closing(await createJobGuard(dataSource, { logger: false }));
      await guard.run(DAILY, () => 'paid');
    };
    const queries = [
      `SELECT name FROM shedlock WHERE name <> 'cronlatch-place'`,
      'SELECT state FROM cronlatch_run',
      'SELECT id FROM cronlatch_run_log',
    ];
    assert.deepEqual(await leftAfterUndoing(database, use, queries), [
      [{ name: DAILY.name }],
      [{ state: 'completed' }],
      [],
    ]);
  },
);

testOnEvery('an application adds the set of a newer version with a further migration', async (database) => {
  const older = SETS.slice(0, 3).map((set) => createCronlatchMigration({ tables: [set] }));
  assert.equal(await migrate(database, older), 3);
  assert.equal(await migrate(database, [...older, createCronlatchMigration({ tables: ['operations'] })]), 1);
  await using dataSource = closing(await connect(database, {}));
  assert.deepEqual(await problemsOf(dataSource), []);
});

testOnEvery(
  'after the migrations of single sets, that of all tables adds what they lack',
  async (database) => {
    const older = SETS.slice(0, 2).map((set) => createCronlatchMigration({ tables: [set] }));
    await migrate(database, older);
    await using dataSource = closing(
      await connect(database, { migrations: [...older, createCronlatchMigration()] }),
    );
    await dataSource.query(`INSERT INTO shedlock VALUES ('kept', ${instantOf(dataSource)}, 'host/1', 7)`);
    assert.equal((await dataSource.runMigrations()).length, 1);
    assert.deepEqual(await problemsOf(dataSource), []);
    const rows = await dataSource.query<{ name: string }[]>(
      `SELECT name FROM shedlock WHERE name <> 'cronlatch-place'`,
    );
    assert.deepEqual(
      rows.map(({ name }) => name),
      ['kept'],
    );
  },
);

/** `lock_until` and `locked_at`. */
function instantOf({ options }: DataSource): string {
  return options.type === 'better-sqlite3' ? '1, 1' : `'2026-11-20 03:00:00', '2026-11-20 03:00:00'`;
}

testOnEvery('for TypeORM, the tables of the one migration equal those of the entities', async (database) => {
  const entities = createCronlatchEntities({ type: database.options.type });
  await using dataSource = closing(
    await connect(database, { entities, migrations: [createCronlatchMigration()] }),
  );
  await dataSource.runMigrations();
  const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
  assert.deepEqual(
    upQueries.map(({ query }) => query),
    [],
  );
});

testOnEvery('a guard works on tables that TypeORM synchronized from the entities', async (database) => {
  const entities = createCronlatchEntities({ type: database.options.type });
  await using dataSource = closing(await connect(database, { entities, synchronize: true }));
  assert.deepEqual(await problemsOf(dataSource), []);
  const warnings: string[] = [];
  const logger = {
    warn: (line: string) => warnings.push(line),
    error: (line: string) => warnings.push(line),
  };
  await using guard = closing(await createJobGuard(dataSource, { logger }));
  assert.equal((await guard.run(DAILY, () => 'ran')).executed, true);
  assert.equal((await guard.ledger.last(DAILY.name))?.state, 'completed');
  assert.deepEqual(warnings, []);
  await dataSource.synchronize();
  assert.deepEqual(await problemsOf(dataSource), []);
  const locks = await dataSource.getRepository<{ name: string }>('CronlatchLock').find();
  assert.ok(locks.some(({ name }) => name === DAILY.name));
});

class Plural extends DefaultNamingStrategy {
  override tableName(target: string, given: string | undefined): string {
    return `${super.tableName(target, given)}s`;
  }
}

testOnEvery(
  'a guard works on entities whose tables have a prefix and a naming strategy',
  async (database) => {
    const entities = createCronlatchEntities({ type: database.options.type });
    const more = { entityPrefix: 'app_', namingStrategy: new Plural() };
    await using dataSource = closing(await connect(database, { entities, synchronize: true, ...more }));
    assert.deepEqual(await problemsOf(dataSource), []);
    await using guard = closing(await createJobGuard(dataSource, { logger: false }));
    assert.equal((await guard.run(DAILY, () => 'ran')).executed, true);
    const rows = await dataSource.query<{ state: string }[]>('SELECT state FROM app_cronlatch_runs');
    assert.deepEqual(
      rows.map(({ state }) => state),
      ['completed'],
    );
  },
);

void test('a migration for unknown tables is refused', () => {
  for (const tables of [[], ['locks'], ['lock', 'ledger'], ['lock', 'lock'], null] as unknown as ['lock'][]) {
    assert.throws(() => createCronlatchMigration({ tables }), {
      code: 'CRONLATCH_INVALID_CONFIGURATION',
      message:
        /^tables is .*: leave it out for all tables, or use \['lock'\], \['ledger'\], \['jobs'\], \['operations'\] or \['row-lock'\]\.$/,
    });
  }
});

void test('the name of a migration holds the names of tables that are not the default ones, and its timestamp', () => {
  const nameOf = (options: Parameters<typeof createCronlatchMigration>[0]) =>
    new (createCronlatchMigration(options))().name;
  assert.equal(nameOf({}), 'CronlatchTables1763596800005');
  assert.equal(nameOf({ lockTable: 'locks', runTable: 'runs' }), 'CronlatchTables_locks__runs_1763596800005');
  const nameWith = (lockTable?: string) => nameOf({ tables: ['lock'], lockTable });
  assert.equal(nameWith(), 'CronlatchLockTable1763596800000');
  assert.equal(nameWith('app_locks'), 'CronlatchLockTable_app_locks_1763596800000');
  assert.equal(nameWith('ops.locks'), 'CronlatchLockTable_ops_locks_1763596800000');
  const alike = ['a.b_c', 'a_b.c', 'a_b_c', 'a$b_c'].map(nameWith);
  assert.equal(new Set(alike).size, alike.length, alike.join());
});
