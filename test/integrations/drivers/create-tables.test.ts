import assert from 'node:assert/strict';
import { LockStorageError, SchemaMismatchError } from 'cronlatch';
import { createTables as createOnMysql } from 'cronlatch/mysql2';
import { createTables as createOnPostgres } from 'cronlatch/pg';
import { closing } from '../../support/benches/closing';
import { testDrivers } from '../../support/benches/driver';
import { databaseOn, testOn } from '../../support/databases/fresh';
import { eventually } from '../../support/clocks/eventually';
import { reasonOf } from '../../support/benches/guard';
import { Stranger } from '../../support/databases/stranger';
import { PASSWORD, withUser } from '../../support/databases/user';

testDrivers('if a table exists that cannot be used, createTables changes nothing', async (bench) => {
  await bench.query('CREATE TABLE shedlock (name VARCHAR(64) NOT NULL PRIMARY KEY)');
  const error = await reasonOf(bench.createTables());
  assert.ok(error instanceof SchemaMismatchError, String(error));
  assert.match(error.message, /'lock_until'/);
  const codes = (await bench.verifySchema()).map(({ code }) => code);
  assert.equal(codes.filter((code) => code === 'missing-table').length, 6, codes.join(', '));
  await assert.rejects(async () => await bench.query('SELECT 1 FROM cronlatch_run'));
});

for (const kind of ['mysql', 'mariadb', 'postgres'] as const)
  testOn(
    kind,
    'without the right to create tables, createTables names the table and the server, without the password',
    async () => {
      await using database = closing(await databaseOn(kind));
      const isPostgres = kind === 'postgres';
      if (isPostgres) await database.ask('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
      await withUser(kind, database, async ({ account, url }) => {
        if (!isPostgres) await database.ask(`GRANT SELECT ON ${database.name}.* TO ${account}`);
        const error = await reasonOf((isPostgres ? createOnPostgres : createOnMysql)(url));
        assert.ok(error instanceof LockStorageError, String(error));
        assert.match(
          error.message,
          /^(MySQL|MariaDB|PostgreSQL) at [\w.]+:\d+ rejected the statement for table 'shedlock': .*denied/,
        );
        assert.equal(error.outcome, 'nothing-ran');
        assert.doesNotMatch(`${error.stack} ${String(error.cause)}`, new RegExp(PASSWORD));
      });
    },
  );

for (const kind of ['mysql', 'postgres'] as const)
  testOn(kind, 'createTables leaves no connection open', async () => {
    const database = await databaseOn(kind);
    const stranger = new Stranger(kind, database);
    await (kind === 'postgres' ? createOnPostgres : createOnMysql)(database.url);
    await eventually(async () => (await stranger.countSessions()) === 0, 'its sessions have ended');
    await database.dispose();
  });
