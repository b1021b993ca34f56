import assert from 'node:assert/strict';
import { DataSource } from 'typeorm';
import { databaseOn, testOnEveryServer } from './fresh';

const VERSIONS = { mysql: /^\d+\.\d+(?!.*MariaDB)/, mariadb: /-MariaDB/, postgres: /^PostgreSQL / };

const SCHEMA = { mysql: 'DATABASE()', mariadb: 'DATABASE()', postgres: 'current_schema()' };

testOnEveryServer('the database of a test is empty, and is dropped although it is in use', async (server) => {
  const database = await databaseOn(server);
  const application = await new DataSource(database.options).initialize();
  const [row] = await application.query<{ version: string }[]>('SELECT version() AS version');
  assert.match(row?.version ?? '', VERSIONS[server]);
  assert.deepEqual(
    await application.query(
      `SELECT table_name FROM information_schema.tables WHERE table_schema = ${SCHEMA[server]}`,
    ),
    [],
  );

  await database.dispose();
  await assert.rejects(new DataSource(database.options).initialize(), new RegExp(database.name));
  await application.destroy();
});
