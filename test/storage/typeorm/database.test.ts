import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as mysql2 from 'mysql2';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { systemClock } from 'cronlatch/provider';
import type { SqlDatabase } from '#cronlatch/storage/sql/connections/sql-database';
import { databaseOf } from '#cronlatch/storage/typeorm/database';

/** Not connected: only its options are read. */
function databaseAt(options: object): SqlDatabase {
  return databaseOf(new DataSource(options as DataSourceOptions));
}

/** The options with which our own connection to MySQL is opened. */
async function ownOptionsOf(options: object): Promise<Record<string, unknown>> {
  let given: Record<string, unknown> = {};
  const createConnection = (own: Record<string, unknown>): never => {
    given = own;
    throw new Error('not opened');
  };
  const database = databaseAt({ type: 'mysql', driver: { ...mysql2, createConnection }, ...options });
  const settings = { clock: systemClock, statementTimeoutMs: 5000, warn: () => {} };
  await assert.rejects(async () => await database.connect(settings).open(5000), /not opened/);
  return given;
}

const OWN = {
  maxPreparedStatements: 200,
  connectTimeout: 5000,
  charset: 'UTF8MB4_UNICODE_CI',
  supportBigNumbers: true,
  bigNumberStrings: true,
};

void test('connection settings are copied, and all other options are left out', async () => {
  const way = { host: 'db', port: 3307, password: 'p', database: 'd', ssl: { ca: 'x' } };
  const habits = {
    ...{ synchronize: true, dropSchema: true, migrationsRun: true, cache: true, logging: 'all' },
    ...{ entityPrefix: 'app_', poolSize: 50, timezone: '+02:00', charset: 'LATIN1_SWEDISH_CI' },
    extra: { connectionLimit: 50, enableKeepAlive: false },
  };
  assert.deepEqual(await ownOptionsOf({ ...way, username: 'u', ...habits }), {
    ...way,
    user: 'u',
    enableKeepAlive: false,
    ...OWN,
  });
});

const URLS = [
  ...['u:p@db:3307/app', 'u:p%40s%23s@db/app?charset=utf8mb4', 'u@db/app', 'db/app', 'u:@db/app', 'u:p@db'],
  ...['u:p#a?b&c@db:3307/app', 'u:p@ss:w@db/app', 'u:p w\\[é]@db/app', 'u:?@db/a%20b', 'u@h:p@db/a_b#c'],
];

for (const type of ['mysql', 'mariadb'] as const)
  void test(`${type}: the parts of a URL are those that TypeORM reads, also with # or ? in the password`, async () => {
    for (const url of URLS.map((each) => `${type}://${each}`))
      for (const options of [{ url }, { replication: { master: { url }, slaves: [] } }]) {
        const { driver } = new DataSource({ type, ...options });
        const ofTypeOrm = (driver as unknown as ReaderOfTypeOrm).createConnectionOptions({}, { url });
        const own = await ownOptionsOf({ type, ...options });
        for (const part of ['host', 'port', 'user', 'password', 'database'])
          assert.equal(own[part] ?? '', ofTypeOrm[part] ?? '', `${part} of ${url}`);
      }
  });

/** How TypeORM itself reads the options of a connection. */
interface ReaderOfTypeOrm {
  createConnectionOptions(options: object, credentials: object): Record<string, unknown>;
}

void test('the place is the same for every address of one database', () => {
  const place = (options: object) => databaseAt(options).place;
  const byUrl = place({ type: 'mysql', url: 'mysql://u:p@one:3306/app' });
  assert.equal(byUrl, 'mysql:app');
  assert.equal(place({ type: 'mysql', host: 'two', database: 'app' }), byUrl);
  assert.equal(place({ type: 'mariadb', database: 'app' }), byUrl);
  assert.notEqual(place({ type: 'mysql', database: 'other' }), byUrl);
  assert.notEqual(place({ type: 'postgres', database: 'app' }), byUrl);
});

void test('messages name the server', () => {
  const address = (options: object) => databaseAt(options).address;
  assert.equal(address({ type: 'mysql' }), 'MySQL at localhost:3306');
  assert.equal(address({ type: 'mariadb', url: 'mariadb://u:p@db/app' }), 'MariaDB at db:3306');
  assert.equal(address({ type: 'postgres', url: 'postgres://u:p@db:6432/app' }), 'PostgreSQL at db:6432');
  assert.equal(address({ type: 'postgres', host: 'db' }), 'PostgreSQL at db:5432');
  const replication = { master: { host: 'primary', database: 'd' }, slaves: [{ host: 'replica' }] };
  assert.equal(address({ type: 'mysql', replication }), 'MySQL at primary:3306');
});

for (const [type, url] of [
  ['mysql', 'mysql://u:p%40ss@h/app'],
  ['postgres', 'postgres://u:p%40ss@h/app'],
])
  void test(`secrets of ${type} are removed from messages, encoded or not`, () => {
    const { redact } = databaseAt({ type, url });
    assert.equal(redact(`cannot use ${url} with p@ss or p%40ss`), 'cannot use *** with *** or ***');
  });
