/** Sources that cannot be used. Each message is one line that names the fix, and has no password in it. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import Database from 'better-sqlite3';
import {
  type CronlatchError,
  InvalidLockConfigurationError,
  InvalidLockUseError,
  LockStorageError,
} from 'cronlatch';
import * as sqliteDriver from 'cronlatch/better-sqlite3';
import * as mysqlDriver from 'cronlatch/mysql2';
import * as pgDriver from 'cronlatch/pg';
import * as typeormDriver from 'cronlatch/typeorm';
import mysql from 'mysql2';
import pg from 'pg';
import { testDrivers } from '../../support/benches/driver';
import { reasonOf } from '../../support/benches/guard';

type ErrorClass = abstract new (...values: never[]) => CronlatchError;

async function refused(call: Promise<unknown>, type: ErrorClass, message: RegExp): Promise<void> {
  const error = await reasonOf(call);
  assert.ok(error instanceof type, String(error));
  assert.match(error.message, message);
  assert.doesNotMatch(`${error.stack} ${String(error.cause)}`, /hunter2/);
  assert.doesNotMatch(error.message, /\n/);
}

const DRIVERS = [
  { ...mysqlDriver, name: 'cronlatch/mysql2' },
  { ...pgDriver, name: 'cronlatch/pg' },
  { ...sqliteDriver, name: 'cronlatch/better-sqlite3' },
] as const;

const mysqlPool = mysql.createPool('mysql://app:hunter2@db.example/app');
const pgPool = new pg.Pool({ connectionString: 'postgres://app:hunter2@db.example/app' });
after(async () => {
  await mysqlPool.promise().end();
  await pgPool.end();
});

class Settings {
  readonly password = 'hunter2';
}

const INVALID: readonly (readonly [source: unknown, what: string])[] = [
  [null, 'null'],
  [5, '5'],
  [['mysql://app:hunter2@db.example/app'], 'Array'],
  [new Settings(), 'Settings'],
  [() => mysqlPool, 'a function'],
  [mysql.createPoolCluster(), 'PoolCluster'],
  [new pg.Client('postgres://app:hunter2@db.example/app'), 'Client'],
];

const OF_OTHERS = {
  'cronlatch/mysql2': [[pgPool, 'BoundPool']],
  'cronlatch/pg': [
    [mysqlPool, 'Pool'],
    [mysqlPool.promise(), 'PromisePool'],
  ],
  'cronlatch/better-sqlite3': [
    [pgPool, 'BoundPool'],
    [{ password: 'hunter2' }, 'a plain object'],
  ],
} as const;

for (const { name, createJobGuard, createTables, verifySchema } of DRIVERS) {
  void test(`${name} rejects anything but a pool, a handle or an address, and names its kind`, async () => {
    for (const [source, what] of [...INVALID, ...OF_OTHERS[name]])
      for (const call of [createJobGuard, createTables, verifySchema])
        await refused(
          call(source as never),
          InvalidLockConfigurationError,
          new RegExp(`^${name} cannot use ${what}\\. Pass a .*, or an address such as \\w+:`),
        );
  });
}

void test('a source that is missing is rejected, and the error proposes to set the environment variable', async () => {
  for (const { name, createJobGuard, createTables, verifySchema } of DRIVERS)
    for (const [source, what] of [
      [undefined, 'undefined'],
      ['', 'an empty text'],
    ])
      for (const call of [createJobGuard, createTables, verifySchema])
        await refused(
          call(source as never),
          InvalidLockConfigurationError,
          new RegExp(
            `^The source for ${name} is ${what}\\. If an environment variable holds the address, set it, as in DATABASE_URL=\\w+:\\S+\\. You can also pass a .*\\.$`,
          ),
        );
});

void test('a connection of mysql2 is rejected, because it is not a pool', async () => {
  // Nothing listens there, and the guard never waits for it.
  const connection = mysql.createConnection('mysql://app:hunter2@127.0.0.1:1/app');
  connection.on('error', () => {});
  for (const each of [connection, connection.promise()])
    await refused(
      mysqlDriver.createJobGuard(each as never),
      InvalidLockConfigurationError,
      /cannot use (Promise)?Connection\./,
    );
  connection.destroy();
});

const MYSQL_FORM = /begins with mysql:\/\/ or mariadb:\/\/, as in mysql:\/\/user:password@host\/database\.$/;
const PG_FORM =
  /begins with postgres:\/\/ or postgresql:\/\/, as in postgres:\/\/user:password@host\/database\.$/;
const SQLITE_FORM = /begins with sqlite: and names a file, as in sqlite:jobs\.db\.$/;
const NOT_PARSED = /cannot parse its address\..*encodeURIComponent\(\)\.$/;
const NO_DATABASE =
  /names no database\. Add one, as in (postgres:\/\/host\/app|mysql:\/\/host\/app, or the option database)\.$/;

const ADDRESSES = [
  [mysqlDriver, 'postgres://app:hunter2@db.example/app', MYSQL_FORM],
  [mysqlDriver, 'db.example', MYSQL_FORM],
  [mysqlDriver, { uri: 5 }, MYSQL_FORM],
  [mysqlDriver, 'mysql://app:hunter2#1@db.example/app', NOT_PARSED],
  [mysqlDriver, 'mysql://app:hunter2%@db.example/app', NOT_PARSED],
  [mysqlDriver, 'mysql://app:hunter2@db.example', NO_DATABASE],
  [mysqlDriver, 'mysql://app:hunter2@db.example/', NO_DATABASE],
  [mysqlDriver, { host: 'db.example', password: 'hunter2' }, NO_DATABASE],
  [mysqlDriver, mysql.createPool({ host: 'db.example', password: 'hunter2' }), NO_DATABASE],
  [pgDriver, 'mysql://app:hunter2@db.example/app', PG_FORM],
  [pgDriver, { connectionString: 5 }, PG_FORM],
  [pgDriver, 'postgres://app:hunter2/1@db.example/app', NOT_PARSED],
  [pgDriver, 'postgres://app:hunter2%@db.example/app', NOT_PARSED],
  [pgDriver, 'postgres://app:hunter2@db.example', NO_DATABASE],
  // pg ignores this option beside an address.
  [pgDriver, { connectionString: 'postgres://app:hunter2@db.example', database: 'app' }, NO_DATABASE],
  [sqliteDriver, 'mysql://app:hunter2@db.example/app', SQLITE_FORM],
  [sqliteDriver, 'jobs.db', SQLITE_FORM],
  [sqliteDriver, 'sqlite:', SQLITE_FORM],
  [sqliteDriver, 'sqlite://jobs.db', / Write sqlite:jobs\.db for a file in the working directory, /],
  [sqliteDriver, 'sqlite::memory:', /exists only in the connection that opened it\..*pass that\.$/],
] as const;

void test('an unusable address is rejected, and its message never contains it', async () => {
  for (const [driver, source, message] of ADDRESSES)
    for (const call of [driver.createJobGuard, driver.createTables, driver.verifySchema])
      await refused(call(source as never), InvalidLockConfigurationError, message);
});

void test('a misspelt option or set of tables is rejected before anything is sent', async () => {
  const calls = [
    [mysqlDriver, 'mysql://app:hunter2@db.example/app'],
    [pgDriver, 'postgres://app:hunter2@db.example/app'],
    [sqliteDriver, 'sqlite:jobs.db'],
  ] as const;
  const misspelt = { statementTimeout: '1s', ...{ lockTabel: 'locks' } };
  const locks = ['locks'] as never;
  for (const [{ createJobGuard, createTables, verifySchema }, address] of calls) {
    const message = /^Unknown option 'lockTabel' for the (job guard|tables)\. Did you mean 'lockTable'\?$/;
    for (const call of [createJobGuard, createTables, verifySchema])
      await refused(call(address, misspelt), InvalidLockConfigurationError, message);
    for (const call of [createTables, verifySchema])
      for (const tables of [locks, [], 'lock' as never])
        await refused(
          call(address, { tables }),
          InvalidLockConfigurationError,
          /^tables is .+: use a list of 'lock', 'ledger', 'jobs', 'operations' and 'row-lock'\.$/,
        );
  }
});

void test('transactionConnections must be a whole number, 1 or more', async () => {
  for (const transactionConnections of [0, -1, 1.5, NaN, Infinity, '3', null] as number[]) {
    const message = /^transactionConnections is .*: it must be a whole number, 1 or more\.$/;
    for (const created of [
      mysqlDriver.createJobGuard('mysql://app:hunter2@db.example/app', { transactionConnections }),
      pgDriver.createJobGuard('postgres://app:hunter2@db.example/app', { transactionConnections }),
    ])
      await refused(created, InvalidLockConfigurationError, message);
  }
});

testDrivers(
  'a pool or a handle that is closed is rejected',
  async (bench) => {
    const closed = await bench.closedPool();
    const message = new RegExp(`^The (pool|database) for ${bench.name} is closed\\. Pass an open one\\.$`);
    await refused(bench.createJobGuard(closed), InvalidLockUseError, message);
    await refused(bench.createTables(closed), InvalidLockUseError, message);
    assert.throws(() => bench.lockProvider(closed), { name: 'InvalidLockUseError', message });
  },
  ['mysql', 'postgres', 'sqlite'],
);

void test('a SQLite file that does not exist is not created by a guard, and the error suggests npx cronlatch init', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cronlatch-'));
  try {
    const address = `sqlite:${join(folder, 'jobs.db')}`;
    const message =
      /SQLite \(.*jobs\.db\): the file does not exist\. Create it with npx cronlatch init, or correct/;
    await refused(sqliteDriver.createJobGuard(address), LockStorageError, message);
    await refused(sqliteDriver.verifySchema(address), LockStorageError, message);
    const nowhere = sqliteDriver.createTables(`sqlite:${join(folder, 'none', 'jobs.db')}`);
    await refused(nowhere, LockStorageError, /directory does not exist/);
    await sqliteDriver.createTables(address);
    const database = new Database(join(folder, 'jobs.db'));
    assert.equal(database.pragma('journal_mode', { simple: true }), 'wal');
    database.close();
    await (await sqliteDriver.createJobGuard(address)).close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

testDrivers(
  'a wrong password is a LockStorageError with the address and the user, without the password',
  async ({ url, createJobGuard, createTables }) => {
    const wrong = new URL(url);
    [wrong.username, wrong.password] = ['nobody', 'hunter2'];
    const message = /^Cannot log in to (MySQL|MariaDB|PostgreSQL) at [\w.]+:\d+ as nobody: /;
    await refused(createJobGuard(wrong.href), LockStorageError, message);
    await refused(createTables(wrong.href), LockStorageError, message);
  },
  ['mysql', 'mariadb', 'postgres'],
);

for (const [parameter, isRefused] of [
  ['ssl-mode=REQUIRED', true],
  ['sslmode=verify-full', true],
  ['sslaccept=strict', true],
  ['useSSL=true', true],
  ['ssl-mode=DISABLED', false],
  ['sslmode=prefer', false],
] as const)
  void test(`an address with ${parameter} ${isRefused ? 'is refused, unless ssl is set' : 'may connect without TLS'}`, async () => {
    const url = `mysql://app:hunter2@127.0.0.1:1/app?${parameter}`;
    const dataSource = { type: 'mysql', url } as const;
    const calls = (ssl?: object): Promise<unknown>[] => [
      mysqlDriver.createJobGuard({ uri: url, ...(ssl && { ssl }) }, { logger: false }),
      typeormDriver.createJobGuard({ ...dataSource, ...(ssl && { ssl }) }, { logger: false }),
    ];
    const message = new RegExp(
      `^The address asks for TLS by ${parameter.split('=')[0]}, which the driver ignores`,
    );
    for (const call of calls())
      await (isRefused
        ? refused(call, InvalidLockConfigurationError, message)
        : refused(call, LockStorageError, /ECONNREFUSED/));
    for (const call of calls({})) await refused(call, LockStorageError, /ECONNREFUSED/);
  });

void test('a statementTimeout that no timer of Node can have is refused', async () => {
  const message = /^statementTimeout is "30d": it must lie between 0 and 24 days\.$/;
  const created = pgDriver.createJobGuard('postgres://127.0.0.1:1/app', { statementTimeout: '30d' });
  await refused(created, InvalidLockConfigurationError, message);
});
