import assert from 'node:assert/strict';
import { currentRun, type JobConfiguration, type JobGuard, type TaskResult } from 'cronlatch';
import * as mysqlDriver from 'cronlatch/mysql2';
import * as pgDriver from 'cronlatch/pg';
import type { Run } from 'cronlatch/provider';
import type { CreateJobGuardOptions } from 'cronlatch/typeorm';
import mysql from 'mysql2/promise';
import pg from 'pg';
import type { ServerName } from '../databases/fresh';
import { postgresPool } from '../databases/postgres';
import type { ServerDatabase } from '../databases/types';
import { JOB, testBenches } from './transaction';

type Rows = Record<string, unknown>[];

/** A connection of mysql2 or pg with one method for both. */
export interface PlainConnection {
  query(text: string): Promise<Rows>;
  /** Calls this before the driver sends the next COMMIT, and keeps it back until the promise resolves. */
  beforeCommit(hook: () => Promise<void>): void;
}

/** The pool of an application, and the functions of its subpath, with the same signatures for both drivers. */
interface Application {
  readonly pool: object;
  readonly createTables: () => Promise<void>;
  readonly guard: (source: 'pool' | 'address', options: DriverGuardOptions) => Promise<JobGuard>;
  readonly inRunTransaction: <T>(
    work: (connection: PlainConnection) => Promise<T>,
    options?: mysqlDriver.RunTransactionOptions,
  ) => Promise<T>;
  readonly completeRunIn: (connection: unknown, options?: mysqlDriver.CompleteRunOptions) => Promise<void>;
  readonly borrow: () => Promise<{ connection: PlainConnection; own: unknown; release: () => void }>;
  /** How many connections are in the pool. */
  readonly size: () => number;
  readonly close: () => Promise<void>;
}

type DriverGuardOptions = CreateJobGuardOptions & { readonly transactionConnections?: number };

interface BenchOptions {
  /** Where the application connects. Default: the database's address. */
  readonly url?: string;
  readonly poolSize?: number;
  readonly source?: 'pool' | 'address';
  readonly guard?: DriverGuardOptions;
}

/** An application that uses mysql2 or pg directly, whose job has effects in the database of its ledger. */
export class DriverTransactions {
  private constructor(
    readonly kind: ServerName,
    readonly database: ServerDatabase<unknown>,
    readonly application: Application,
    readonly guard: JobGuard,
  ) {}

  static async on(
    kind: ServerName,
    database: ServerDatabase<unknown>,
    { url = database.url, poolSize = 5, source = 'pool', guard = {} }: BenchOptions = {},
  ): Promise<DriverTransactions> {
    const application = kind === 'postgres' ? onPg(url, poolSize) : onMysql2(url, poolSize);
    await application.createTables();
    await database.ask(
      'CREATE TABLE IF NOT EXISTS effect (run VARCHAR(64) NOT NULL, attempt INTEGER NOT NULL)',
    );
    const options = { pollInterval: false, logger: false, ...guard } as const;
    return new DriverTransactions(kind, database, application, await application.guard(source, options));
  }

  /** One tick of the job. */
  run<T>(handler: () => T | PromiseLike<T>, more: Partial<JobConfiguration> = {}): Promise<TaskResult<T>> {
    return this.guard.run({ ...JOB, ...more }, handler);
  }

  /** Writes the effect of the current run. */
  async effect(connection: PlainConnection): Promise<void> {
    const { periodKey, attempt } = currentRun();
    await connection.query(`INSERT INTO effect (run, attempt) VALUES ('${periodKey}', ${attempt})`);
  }

  /** The attempts whose effects are committed. */
  async effects(): Promise<number[]> {
    const rows = await this.database.ask('SELECT attempt FROM effect ORDER BY run, attempt');
    return rows.map(({ attempt }) => Number(attempt));
  }

  async row(job: string = JOB.name): Promise<Run> {
    const run = await this.guard.ledger.last(job);
    assert.ok(run);
    return run;
  }

  /** Another process claims the run as its next attempt. */
  async seize(): Promise<void> {
    await this.database.ask(`UPDATE cronlatch_run SET claimed_by = 'another process', attempt = attempt + 1`);
  }

  async close(): Promise<void> {
    await this.guard.close({ timeout: 0 });
    await this.application.close();
  }
}

function onMysql2(url: string, connectionLimit: number): Application {
  const pool = mysql.createPool({ uri: url, connectionLimit });
  const plain = (connection: mysql.PoolConnection): PlainConnection => ({
    query: async (text) => (await connection.query(text))[0] as Rows,
    beforeCommit: (hook) =>
      interceptQuery(connection.connection, ([query]) => String(textOf(query)).startsWith('COMMIT'), hook),
  });
  return {
    pool,
    createTables: () => mysqlDriver.createTables(url),
    guard: (source, options) => mysqlDriver.createJobGuard(source === 'pool' ? pool : url, options),
    inRunTransaction: (work, options) =>
      mysqlDriver.inRunTransaction((connection) => work(plain(connection)), options),
    completeRunIn: (connection, options) =>
      mysqlDriver.completeRunIn(connection as mysql.Connection, options),
    async borrow() {
      const own = await pool.getConnection();
      return { connection: plain(own), own, release: () => own.release() };
    },
    size: () => (pool.pool as unknown as { _allConnections: { length: number } })._allConnections.length,
    close: () => pool.end(),
  };
}

function onPg(url: string, max: number): Application {
  const pool = postgresPool({ connectionString: url, max });
  pool.on('error', () => {}); // Some tests end idle connections.
  const plain = (client: pg.PoolClient): PlainConnection => ({
    query: async (text) => (await client.query<Record<string, unknown>>(text)).rows,
    beforeCommit: (hook) => interceptQuery(client, ([query]) => textOf(query) === 'COMMIT', hook),
  });
  return {
    pool,
    createTables: () => pgDriver.createTables(url),
    guard: (source, options) => pgDriver.createJobGuard(source === 'pool' ? pool : url, options),
    inRunTransaction: (work, options) => pgDriver.inRunTransaction((client) => work(plain(client)), options),
    completeRunIn: (client, options) =>
      pgDriver.completeRunIn(client as pg.ClientBase, { run: currentRun({ optional: true }), ...options }),
    async borrow() {
      const own = await pool.connect();
      return { connection: plain(own), own, release: () => own.release() };
    },
    size: () => pool.totalCount,
    close: () => pool.end(),
  };
}

/** The text of a query of pg or mysql2, which can be in an object. */
function textOf(query: unknown): unknown {
  const { text, sql } = Object(query) as { readonly text?: unknown; readonly sql?: unknown };
  return text ?? sql ?? query;
}

/** Replaces `query` of one connection until the statement comes. */
function interceptQuery(
  connection: object,
  isIt: (values: readonly unknown[]) => boolean,
  hook: () => Promise<void>,
): void {
  const target = connection as { query: (...values: unknown[]) => unknown };
  const query = target.query.bind(target);
  target.query = (...values) => {
    if (!isIt(values)) return query(...values);
    Reflect.deleteProperty(target, 'query');
    // A query of mysql2 with a callback is not a promise.
    return hook()
      .then(() => ({ answer: query(...values) }))
      .then(({ answer }) => (answer instanceof Promise ? answer : undefined));
  };
}

/** One test for each server, through mysql2 or pg. */
export function testDriverTransactions(
  name: string,
  body: Parameters<typeof testBenches<DriverTransactions, BenchOptions>>[2],
  on?: readonly ServerName[],
): void {
  testBenches(name, (...at) => DriverTransactions.on(...at), body, on);
}

/** One connection of the driver, as an application opens it. */
export async function openPlain(
  kind: ServerName,
  url: string,
): Promise<{ connection: unknown; commit: () => Promise<unknown>; close: () => Promise<void> }> {
  if (kind !== 'postgres') {
    const connection = await mysql.createConnection(url);
    await connection.query('START TRANSACTION');
    return { connection, commit: () => connection.commit(), close: () => connection.end() };
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('BEGIN');
  return { connection: client, commit: () => client.query('COMMIT'), close: () => client.end() };
}
