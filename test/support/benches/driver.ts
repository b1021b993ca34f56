import Database from 'better-sqlite3';
import mysql from 'mysql2/promise';
import pg from 'pg';
import type { JobGuard } from 'cronlatch';
import * as sqliteDriver from 'cronlatch/better-sqlite3';
import * as mysqlDriver from 'cronlatch/mysql2';
import * as pgDriver from 'cronlatch/pg';
import type { CreateJobGuardOptions } from 'cronlatch/typeorm';
import type { TestContext } from 'node:test';
import { testWith, type DatabaseName, type TestDatabase } from '../databases/fresh';
import { postgresPool } from '../databases/postgres';
import type { DriverName } from '../stores/variants';
import { closing } from './closing';

/** What a job does in a transaction that completes its run, the same for every driver. */
type Effect = (statement: string) => unknown;

/** One driver, with a database of its own. */
export interface DriverBench {
  readonly name: string;
  readonly driver: DriverName;
  readonly url: string;
  /** The application's pool or handle. */
  readonly pool: () => unknown;
  /** The same, closed. */
  readonly closedPool: () => Promise<unknown>;
  readonly createTables: (source?: unknown, options?: mysqlDriver.TablesOptions) => Promise<void>;
  readonly verifySchema: () => Promise<readonly { readonly code: string }[]>;
  readonly lockProvider: (
    source?: unknown,
    options?: mysqlDriver.SqlLockProviderOptions,
  ) => mysqlDriver.Mysql2LockProvider;
  readonly createJobGuard: (source?: unknown, options?: CreateJobGuardOptions) => Promise<JobGuard>;
  /** Runs the statements in a transaction that completes the current run. */
  readonly inRunTransaction: (work: (effect: Effect) => unknown) => Promise<unknown>;
  readonly query: (statement: string) => Promise<readonly object[]>;
  readonly close: () => Promise<void>;
}

const OPENERS: Readonly<Record<DatabaseName, (database: TestDatabase, url: string) => DriverBench>> = {
  mysql: mysqlBench,
  mariadb: mysqlBench,
  postgres: pgBench,
  sqlite: sqliteBench,
};

/** One test for each kind of database, through its driver. */
export function testDrivers(
  name: string,
  body: (bench: DriverBench, t: TestContext) => Promise<void>,
  on: readonly DatabaseName[] = ['mysql', 'mariadb', 'postgres', 'sqlite'],
): void {
  for (const kind of on)
    testWith(kind, name, async (database, t) => {
      const { url, database: file } = database.options as { url?: string; database?: string };
      await using bench = closing(OPENERS[kind](database, url ?? `sqlite:${file}`));
      await body(bench, t);
    });
}

function mysqlBench(_database: TestDatabase, url: string): DriverBench {
  const pool = mysql.createPool(url);
  return {
    name: 'cronlatch/mysql2',
    driver: 'mysql2',
    url,
    pool: () => pool,
    async closedPool() {
      const closed = mysql.createPool(url);
      await closed.end();
      return closed;
    },
    createTables: (source = url, options = {}) => mysqlDriver.createTables(source as string, options),
    verifySchema: () => mysqlDriver.verifySchema(url),
    lockProvider: (source = url, options = {}) =>
      new mysqlDriver.Mysql2LockProvider(source as string, options),
    createJobGuard: (source = url, options = {}) => mysqlDriver.createJobGuard(source as string, options),
    inRunTransaction: (work) =>
      mysqlDriver.inRunTransaction((connection) => work((statement) => connection.query(statement))),
    query: async (statement) => (await pool.query(statement))[0] as object[],
    close: () => pool.end(),
  };
}

function pgBench(_database: TestDatabase, url: string): DriverBench {
  const pool = postgresPool({ connectionString: url });
  return {
    name: 'cronlatch/pg',
    driver: 'pg',
    url,
    pool: () => pool,
    async closedPool() {
      const closed = new pg.Pool({ connectionString: url });
      await closed.end();
      return closed;
    },
    createTables: (source = url, options = {}) => pgDriver.createTables(source as string, options),
    verifySchema: () => pgDriver.verifySchema(url),
    lockProvider: (source = url, options = {}) => new pgDriver.PgLockProvider(source as string, options),
    createJobGuard: (source = url, options = {}) => pgDriver.createJobGuard(source as string, options),
    inRunTransaction: (work) =>
      pgDriver.inRunTransaction((client) => work((statement) => client.query(statement))),
    query: async (statement) => (await pool.query<object>(statement)).rows,
    close: () => pool.end(),
  };
}

function sqliteBench(_database: TestDatabase, url: string): DriverBench {
  const database = new Database(url.replace('sqlite:', ''));
  database.pragma('journal_mode = WAL');
  return {
    name: 'cronlatch/better-sqlite3',
    driver: 'better-sqlite3',
    url,
    pool: () => database,
    closedPool: () => Promise.resolve(new Database(database.name).close()),
    createTables: (source = url, options = {}) => sqliteDriver.createTables(source as string, options),
    verifySchema: () => sqliteDriver.verifySchema(url),
    lockProvider: (source = url, options = {}) =>
      new sqliteDriver.BetterSqlite3LockProvider(source as string, options),
    createJobGuard: (source = url, options = {}) => sqliteDriver.createJobGuard(source as string, options),
    inRunTransaction: (work) => sqliteDriver.inRunTransaction((own) => work((text) => own.exec(text))),
    query(statement) {
      const prepared = database.prepare(statement);
      if (prepared.reader) return Promise.resolve(prepared.all() as object[]);
      prepared.run();
      return Promise.resolve([]);
    },
    close: () => Promise.resolve(void database.close()),
  };
}
