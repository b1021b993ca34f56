import assert from 'node:assert/strict';
import { DataSource } from 'typeorm';
import { SchemaMismatchError } from 'cronlatch';
import { createCronlatchMigration } from 'cronlatch/typeorm';
import { closing } from '../../support/benches/closing';
import {
  databaseOn,
  postgresDatabase,
  testOn,
  testOnEveryServer,
  testOnEvery,
  type Administrator,
  type ServerName,
} from '../../support/databases/fresh';
import { CheckedLockProvider } from '../../support/stores/checked-lock-provider';

const JOB = { name: 'job', lockAtMostFor: '10m' } as const;

/** A database on a server, with another schema for the lock table beside the default one of sessions. */
async function withOtherPlace(
  server: ServerName,
  body: (dataSource: DataSource, place: string) => Promise<void>,
): Promise<void> {
  const database = await databaseOn(server);
  const place = server === 'postgres' ? 'ops' : `${database.name}_ops`;
  const root: Administrator = database.root;
  await root.query(`CREATE SCHEMA ${place}`);
  const dataSource = await new DataSource(database.options).initialize();
  try {
    await body(dataSource, place);
  } finally {
    await dataSource.destroy();
    if (server !== 'postgres') await root.query(`DROP SCHEMA ${place}`);
    await database.dispose();
  }
}

testOnEveryServer('a table in another schema is created, found and repaired there', (server) =>
  withOtherPlace(server, async (dataSource, place) => {
    for (const options of [{ lockTable: `${place}.locks` }, { schema: place, lockTable: 'others' }]) {
      const provider = new CheckedLockProvider(dataSource, options);
      const name = options.lockTable.replace(/^(?!.*\.)/, `${place}.`);
      const [missing] = await provider.verifySchema();
      assert.match(
        missing?.message ?? '',
        new RegExp(`^Table '${name}' in .* is missing.*npx cronlatch init --lock-table ${name}\\.$`),
      );

      const runner = dataSource.createQueryRunner();
      await new (createCronlatchMigration({ tables: ['lock'], ...options }))().up(runner);
      assert.deepEqual(await provider.verifySchema(), []);
      await runner.query(
        `ALTER TABLE ${name} DROP ${server === 'postgres' ? `CONSTRAINT ${name.split('.')[1]}_pkey` : 'PRIMARY KEY'}`,
      );
      await runner.query(`ALTER TABLE ${name} DROP COLUMN fencing_token`);
      const findings = await provider.verifySchema();
      assert.deepEqual(
        findings.map(({ code }) => code),
        [
          ...['names-not-unique', 'no-fencing-token'],
          // Without tokens it looks like a table for ShedLock for Java.
          ...(server === 'postgres' ? ['session-time-zone'] : []),
        ],
      );
      for (const { remedy = '' } of findings) await runner.query(remedy);
      await runner.release();
      assert.deepEqual(await provider.verifySchema(), []);

      assert.ok(await provider.lock(JOB));
      assert.equal(await provider.lock(JOB), undefined);
      const locks = `SELECT name FROM ${name} WHERE name <> 'cronlatch-place'`;
      assert.deepEqual(await dataSource.query(locks), [{ name: 'job' }]);
      await provider.close();
    }
  }),
);

testOnEveryServer('a table name that differs only in case is another table', (server) =>
  withOtherPlace(server, async (dataSource) => {
    const runner = dataSource.createQueryRunner();
    await new (createCronlatchMigration({ tables: ['lock'], lockTable: 'Locks' }))().up(runner);
    await runner.query('CREATE TABLE locks (name INT, lock_until INT, region VARCHAR(10) NOT NULL)');
    await runner.release();
    const provider = new CheckedLockProvider(dataSource, { lockTable: 'Locks' });
    assert.deepEqual(await provider.verifySchema(), []);
    assert.ok(await provider.lock(JOB));
    await provider.close();
  }),
);

testOn('postgres', 'if a DataSource names a schema, its lock table is there, too', async () => {
  const database = await postgresDatabase();
  await database.root.query('CREATE SCHEMA ops');
  const migrations = [createCronlatchMigration({ tables: ['lock'] })];
  const dataSource = new DataSource({
    ...database.options,
    schema: 'ops',
    migrations,
  } as typeof database.options);
  await dataSource.initialize();
  const provider = new CheckedLockProvider(dataSource);
  try {
    // A table of the same name in the default schema of sessions is ignored.
    await database.root.query('CREATE TABLE public.shedlock (id INT)');
    await assert.rejects(provider.lock(JOB), (error) => {
      return (
        error instanceof SchemaMismatchError && error.message.startsWith(`Table 'ops.shedlock' in PostgreSQL`)
      );
    });
    await dataSource.runMigrations();
    assert.deepEqual(await provider.verifySchema(), []);
    assert.ok(await provider.lock(JOB));
    const { rows } = await database.root.query(
      `SELECT name FROM ops.shedlock WHERE name <> 'cronlatch-place'`,
    );
    assert.deepEqual(rows, [{ name: 'job' }]);
  } finally {
    await provider.close();
    await dataSource.destroy();
    await database.dispose();
  }
});

testOnEvery('reserved words of SQL work as names, also in remedies', async (database) => {
  const names = {
    lockTable: 'Order',
    columns: {
      name: 'select',
      lockUntil: 'from',
      lockedAt: 'where',
      lockedBy: 'table',
      fencingToken: 'Group',
    },
  };
  const migrations = [createCronlatchMigration({ tables: ['lock'], ...names })];
  await using dataSource = closing(await new DataSource({ ...database.options, migrations }).initialize());
  await using provider = closing(new CheckedLockProvider(dataSource, names));
  await dataSource.runMigrations();
  assert.deepEqual(await provider.verifySchema(), []);
  const quote = (identifier: string): string => dataSource.driver.escape(identifier);
  await dataSource.query(`ALTER TABLE ${quote('Order')} DROP COLUMN ${quote('Group')}`);
  const [finding] = await provider.verifySchema();
  await dataSource.query(finding?.remedy ?? '');
  assert.deepEqual(await provider.verifySchema(), []);
  const lock = await provider.lock(JOB);
  assert.ok(lock?.fencingToken);
  assert.equal(await provider.lock(JOB), undefined);
  assert.equal(await lock.extend('20m'), true);
  assert.equal(await lock.unlock(), true);
});
