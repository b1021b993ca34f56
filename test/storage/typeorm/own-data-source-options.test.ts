import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { DataSource, type DataSourceOptions } from 'typeorm';
import {
  ownMysqlOptions,
  ownPostgresOptions,
  ownSqliteOptions,
} from '#cronlatch/storage/typeorm/own-data-source-options';
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

const stream = (given: unknown): unknown => ['of', given];

function dataSource(options: object): DataSource {
  // Not connected: only its options are read.
  return Object.assign(Object.create(DataSource.prototype) as DataSource, {
    options: options as DataSourceOptions,
  });
}

void test('connection settings are copied, and all other options are left out', () => {
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
      stream,
    ),
    {
      ...way,
      charset: 'UTF8MB4_UNICODE_CI',
      ...{
        poolSize: 6,
        extra: { connectionLimit: 6, stream: ['of', undefined] },
        connectTimeout: 5000,
        supportBigNumbers: true,
        bigNumberStrings: true,
        logging: false,
      },
    },
  );
});

void test('PostgreSQL: connection settings are copied, and all other options are left out', () => {
  const way = { type: 'postgres', url: 'postgres://u:p@db/app', ssl: true, applicationName: 'billing' };
  const kept = { options: '-c search_path=ops', keepAlive: true };
  const extra = { ...kept, max: 50, statement_timeout: 1, types: {}, query_timeout: 1, parseInt8: true };
  const habits = { ...HABITS, poolSize: 50, extra, schema: 'ops', parseInt8: true, installExtensions: true };
  const own = ownPostgresOptions(dataSource({ ...way, ...habits }), 5000, stream) as unknown as OwnPostgres;
  const { verify, ...ownExtra } = own.extra;
  assert.deepEqual(
    { ...own, extra: ownExtra },
    {
      ...way,
      extra: { idleTimeoutMillis: 0, ...kept, max: 6, stream: ['of', undefined] },
      ...{ poolSize: 6, connectTimeoutMS: 5000, installExtensions: false, logging: false },
    },
  );
  assert.equal(typeof verify, 'function');
});

interface OwnPostgres {
  readonly extra: {
    readonly verify: (client: object, done: (error?: unknown) => void) => void;
  };
}

void test('PostgreSQL: the application’s own check of a new client is kept', () => {
  const looked: unknown[] = [];
  const client = new EventEmitter();
  const refusal = new Error('not this one');
  const verify = (given: unknown, done: (error: Error) => void): void => {
    looked.push(given);
    done(refusal);
  };
  const source = dataSource({ type: 'postgres', extra: { verify } });
  const { extra } = ownPostgresOptions(source, 5000, stream) as unknown as OwnPostgres;
  extra.verify(client, (error) => looked.push(error));
  assert.deepEqual(looked, [client, refusal]);
  assert.equal(client.emit('error', new Error('unheard')), true);
});

void test('driver settings that would change a result or the number of connections are left out', () => {
  const extra = {
    connectionLimit: 50,
    typeCast: () => 1,
    rowsAsArray: true,
    multipleStatements: true,
    flags: ['-FOUND_ROWS'],
    ...{ charset: 'latin1_swedish_ci', charsetNumber: 8, jsonStrings: true, stringifyObjects: true },
    ...{ supportBigNumbers: false, bigNumberStrings: false, connectTimeout: 1, resetOnRelease: true },
    enableKeepAlive: true,
    stream: 'the cloud’s',
  };
  const { extra: own } = ownMysqlOptions(dataSource({ type: 'mysql', extra }), 5000, stream) as {
    extra: unknown;
  };
  assert.deepEqual(own, { connectionLimit: 6, enableKeepAlive: true, stream: ['of', 'the cloud’s'] });
});

void test('with replication, only the primary is used, as plain options', () => {
  const replication = {
    master: { host: 'primary', port: 3306, username: 'u', password: 'p', database: 'd' },
    slaves: [{ host: 'replica' }],
  };
  const own = ownMysqlOptions(dataSource({ type: 'mysql', replication }), 5000, stream) as unknown as Record<
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

void test('the lock id is the same for every address of one database', () => {
  const place = (options: object) => describeDatabase(dataSource(options)).place;
  const byUrl = place({ type: 'mysql', url: 'mysql://u:p@one:3306/app' });
  assert.equal(byUrl, 'mysql:app');
  assert.equal(place({ type: 'mysql', host: 'two', database: 'app' }), byUrl);
  assert.equal(place({ type: 'mariadb', database: 'app' }), byUrl);
  assert.notEqual(place({ type: 'mysql', database: 'other' }), byUrl);
  assert.notEqual(place({ type: 'postgres', database: 'app' }), byUrl);
});

void test('messages name the server', () => {
  const address = (options: object) => describeDatabase(dataSource(options)).address;
  assert.equal(address({ type: 'mysql' }), 'MySQL at localhost:3306');
  assert.equal(address({ type: 'mariadb', url: 'mariadb://u:p@db/app' }), 'MariaDB at db:3306');
  assert.equal(address({ type: 'postgres', url: 'postgres://u:p@db:6432/app' }), 'PostgreSQL at db:6432');
  assert.equal(address({ type: 'postgres', host: 'db' }), 'PostgreSQL at db:5432');
});

void test('secrets are removed from messages, encoded or not', () => {
  const { redact } = describeDatabase(dataSource({ type: 'mysql', url: 'mysql://u:p%40ss@h/app' }));
  assert.equal(
    redact('cannot use mysql://u:p%40ss@h/app with p@ss or p%40ss'),
    'cannot use *** with *** or ***',
  );
});
