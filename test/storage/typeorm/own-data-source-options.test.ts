import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { ownMysqlOptions, ownSqliteOptions } from '#cronlatch/storage/typeorm/own-data-source-options';
import { describeDatabase } from '#cronlatch/storage/typeorm/database';

const HABITS = {
  ...{
    synchronize: true,
    dropSchema: true,
    migrationsRun: true,
    migrations: ['x.js'],
    entities: ['y.js'],
    subscribers: ['z.js'],
  },
  ...{
    cache: true,
    logging: 'all',
    logger: 'debug',
    entityPrefix: 'app_',
    maxQueryExecutionTime: 1,
    invalidWhereValuesBehavior: {},
  },
};

function dataSource(options: object): DataSource {
  // Not connected: only its options are read.
  return Object.assign(Object.create(DataSource.prototype) as DataSource, {
    options: options as DataSourceOptions,
  });
}

void test('what leads to the database is taken over, every habit stays behind', () => {
  const way = {
    type: 'mysql',
    host: 'db',
    port: 3307,
    username: 'u',
    password: 'p',
    database: 'd',
    ssl: { ca: 'x' },
  };
  assert.deepEqual(
    ownMysqlOptions(
      dataSource({ ...way, ...HABITS, charset: 'LATIN1_SWEDISH_CI', poolSize: 50, timezone: '+02:00' }),
      5000,
    ),
    {
      ...way,
      charset: 'UTF8MB4_UNICODE_CI',
      ...{
        poolSize: 2,
        extra: { connectionLimit: 2 },
        connectTimeout: 5000,
        supportBigNumbers: true,
        bigNumberStrings: true,
        logging: false,
      },
    },
  );
});

void test('of the driver’s own settings, those that would change an answer or the number of connections stay behind', () => {
  const extra = {
    connectionLimit: 50,
    typeCast: () => 1,
    rowsAsArray: true,
    multipleStatements: true,
    flags: ['-FOUND_ROWS'],
    enableKeepAlive: true,
  };
  const { extra: own } = ownMysqlOptions(dataSource({ type: 'mysql', extra }), 5000) as { extra: unknown };
  assert.deepEqual(own, { connectionLimit: 2, enableKeepAlive: true });
});

void test('with replication, the primary is asked, as plain options', () => {
  const replication = {
    master: { host: 'primary', port: 3306, username: 'u', password: 'p', database: 'd' },
    slaves: [{ host: 'replica' }],
  };
  const own = ownMysqlOptions(dataSource({ type: 'mysql', replication }), 5000) as unknown as Record<
    string,
    unknown
  >;
  assert.deepEqual([own['host'], own['database'], 'replication' in own], ['primary', 'd', false]);
  assert.equal(describeDatabase(dataSource({ type: 'mysql', replication })).address, 'MySQL at primary:3306');
});

void test('a SQLite file is opened again, without waiting inside the driver', () => {
  const own = ownSqliteOptions(
    dataSource({
      type: 'better-sqlite3',
      database: 'a.sqlite',
      key: 'k',
      enableWAL: true,
      timeout: 9000,
      ...HABITS,
    }),
  );
  assert.deepEqual(own, {
    type: 'better-sqlite3',
    database: 'a.sqlite',
    key: 'k',
    timeout: 0,
    fileMustExist: true,
    logging: false,
  });
});

void test('the place of the locks is the same for every way to one database', () => {
  const place = (options: object) => describeDatabase(dataSource(options)).place;
  const byUrl = place({ type: 'mysql', url: 'mysql://u:p@one:3306/app' });
  assert.equal(byUrl, 'mysql:app');
  assert.equal(place({ type: 'mysql', host: 'two', database: 'app' }), byUrl);
  assert.notEqual(place({ type: 'mysql', database: 'other' }), byUrl);
});

void test('secrets are taken out of messages, encoded or not', () => {
  const { redact } = describeDatabase(dataSource({ type: 'mysql', url: 'mysql://u:p%40ss@h/app' }));
  assert.equal(
    redact('cannot use mysql://u:p%40ss@h/app with p@ss or p%40ss'),
    'cannot use *** with *** or ***',
  );
});
