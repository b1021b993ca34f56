import Database from 'better-sqlite3';
import { currentRun } from 'cronlatch';
import * as sqliteDriver from 'cronlatch/better-sqlite3';
import * as mysqlDriver from 'cronlatch/mysql2';
import * as pgDriver from 'cronlatch/pg';
import mysql from 'mysql2/promise';
import type pg from 'pg';
import { rowsOf } from '../databases/asked';
import { postgresPool } from '../databases/postgres';
import type { Application, ApplicationOptions, Client, Library, Rows, RunTransaction } from './application';

interface DriverApplication extends Application {
  /** The pool of the application, or its open database. */
  readonly pool: object;
}

type Lending = Omit<DriverApplication, 'transaction' | 'completeOutside'>;

/** mysql2, pg or better-sqlite3. */
export const DRIVERS: Client<DriverApplication> = {
  prefix: 'through the driver, ',
  isSynchronousOn: ['sqlite'],
  open({ kind, url: address }, { url = address, ...options }) {
    const application = { mysql: onMysql2, mariadb: onMysql2, postgres: onPg, sqlite: onSqlite }[kind](
      url,
      options,
    );
    const insert =
      kind === 'postgres' ? 'INSERT INTO effects VALUES ($1, $2)' : 'INSERT INTO effects VALUES (?, ?)';
    return Promise.resolve({ ...application, ...transactionsOf(application, insert) });
  },
};

function onMysql2(url: string, { poolSize = 5, source = 'pool' }: ApplicationOptions): Lending {
  const pool = mysql.createPool({ uri: url, connectionLimit: poolSize });
  const plain = (connection: mysql.PoolConnection): RunTransaction => ({
    query: async (text) => (await connection.query(text))[0] as Rows,
    beforeCommit: (hook) =>
      interceptQuery(connection.connection, ([query]) => String(textOf(query)).startsWith('COMMIT'), hook),
  });
  return {
    pool,
    subpath: 'cronlatch/mysql2',
    createJobGuard: (options) => mysqlDriver.createJobGuard(source === 'pool' ? pool : url, options),
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

function onPg(url: string, { poolSize: max = 5, source = 'pool' }: ApplicationOptions): Lending {
  const pool = postgresPool({ connectionString: url, max });
  const plain = (client: pg.PoolClient): RunTransaction => ({
    query: async (text) => (await client.query<Record<string, unknown>>(text)).rows,
    beforeCommit: (hook) => interceptQuery(client, ([query]) => textOf(query) === 'COMMIT', hook),
  });
  return {
    pool,
    subpath: 'cronlatch/pg',
    createJobGuard: (options) => pgDriver.createJobGuard(source === 'pool' ? pool : url, options),
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

function onSqlite(url: string, { source = 'pool' }: ApplicationOptions): Lending {
  const pool = new Database(url.replace('sqlite:', ''));
  const plain = (own: Database.Database): RunTransaction => ({
    query: async (text) => await Promise.resolve(rowsOf(own, text)),
    beforeCommit: () => {
      throw new Error('The completion and COMMIT are one synchronous call.');
    },
  });
  return {
    pool,
    subpath: 'cronlatch/better-sqlite3',
    createJobGuard: (options) => sqliteDriver.createJobGuard(source === 'pool' ? pool : url, options),
    inRunTransaction: (work) =>
      sqliteDriver.inRunTransaction((own) => {
        const value = work(plain(own));
        return value instanceof Promise ? undefined : value;
      }) as Promise<never>,
    completeRunIn: async (own, options) =>
      await Promise.resolve(sqliteDriver.completeRunIn(own as Database.Database, options)),
    borrow: () => Promise.resolve({ connection: plain(pool), own: pool, release: () => {} }),
    size: () => 1,
    close: () => Promise.resolve(pool.close()),
  };
}

/** The transactions that the application begins on a connection of its own. */
function transactionsOf(
  { borrow, completeRunIn }: Lending,
  insert: string,
): Pick<Library, 'transaction' | 'completeOutside'> {
  return {
    async transaction(work) {
      const { connection, own, release } = await borrow();
      try {
        await connection.query('BEGIN');
        await work({
          insert: async (...values) => await sendWith(own, insert, values),
          complete: (options) => completeRunIn(own, options),
          commitBehind: () => connection.query('COMMIT'),
        });
        await connection.query('COMMIT');
      } catch (error) {
        await connection.query('ROLLBACK').catch(() => {}); // It may have ended.
        throw error;
      } finally {
        release();
      }
    },
    async completeOutside() {
      const { own, release } = await borrow();
      await completeRunIn(own).finally(release);
    },
  };
}

function sendWith(own: unknown, text: string, values: readonly unknown[]): unknown {
  if (own instanceof Database) return own.prepare(text).run(...values);
  return (own as { query(text: string, values: readonly unknown[]): Promise<unknown> }).query(text, values);
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
