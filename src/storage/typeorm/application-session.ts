import type { QueryRunner } from 'typeorm';
import { InvalidLockUseError, type Clock } from '../../core';
import { pause, withinLimitOr } from '../../core/clock';
import { mysql } from '../sql/dialects/mysql';
import { sqlite } from '../sql/dialects/sqlite';
import type { SqlResult, SqlStatement } from '../sql/connections/sql-executor';
import { dialectOf } from './database';
import { mysqlDriver } from './mysql-driver';
import { postgresDriver } from './postgres-driver';
import type { DriverAnswer, DriverSession, ServerDriver, TransactionWatch } from './server-driver';
import { RETRY_DELAY_MS, type SqliteDatabase } from './sqlite-connection';

export type IsolationLevel = 'READ COMMITTED' | 'REPEATABLE READ' | 'SERIALIZABLE';

/** A connection of the application, as the ledger uses it to take part in a transaction. */
export interface ApplicationSession {
  /**
   * Begins a transaction as soon as no other one is open on the query runner. On SQLite, all users of a DataSource share
   * one query runner. Afterwards the caller must end the transaction, even if `started` rejects.
   *
   * @throws InvalidLockUseError if the other transaction does not end in time
   */
  begin(isolationLevel: IsolationLevel | undefined): Promise<{ readonly started: Promise<void> }>;
  /** Checks it in the database, because statements can end a transaction without the query runner noticing. */
  isInTransaction(): Promise<boolean>;
  /** Sends a statement inside the transaction. Rejects with the driver's error. */
  send(statement: SqlStatement): Promise<SqlResult>;
  /** Watches the open transaction. `undefined` on MySQL, where the answer to COMMIT is the same after a rollback. */
  watchEnd(): TransactionWatch | undefined;
  /** Call it inside the transaction. The server then ends it when it is idle for longer. No effect on SQLite. */
  limitIdle(milliseconds: number): Promise<void>;
  /** Call it after the transaction. It restores the settings of the session. */
  unlimitIdle(): Promise<void>;
  /** Ends the connection at once, so the server rolls back its open transaction. */
  destroy(): void;
}

export interface SessionLimits {
  readonly clock: Clock;
  readonly statementTimeoutMs: number;
}

/** Returns the session of the connection that a query runner uses. */
export async function applicationSession(
  runner: QueryRunner,
  limits: SessionLimits,
): Promise<ApplicationSession> {
  const dialect = dialectOf(runner.dataSource.options.type);
  const connection: unknown = await runner.connect();
  if (dialect === sqlite) return sqliteSession(runner, connection as SqliteDatabase, limits);
  const driver = dialect === mysql ? mysqlDriver : postgresDriver;
  return serverSession(runner, sessionOf(connection as object, driver), driver, limits);
}

/** By the driver's connection, which the pool lends many times. */
const sessions = new WeakMap<object, DriverSession>();

function sessionOf(connection: object, driver: ServerDriver): DriverSession {
  const session = sessions.get(connection) ?? driver.session(connection);
  sessions.set(connection, session);
  return session;
}

function serverSession(
  runner: QueryRunner,
  session: DriverSession,
  { idleLimit, probe }: ServerDriver,
  { clock, statementTimeoutMs }: SessionLimits,
): ApplicationSession {
  let isLimited = false;
  const timeoutError = (): Error => new Error(`The database did not answer within ${statementTimeoutMs} ms.`);
  const send = (statement: SqlStatement): Promise<DriverAnswer> =>
    withinLimitOr(clock, session.send(statement, { prepared: false }), statementTimeoutMs, timeoutError);
  const sendText = (text: string): Promise<DriverAnswer> => send({ id: '', text, values: [] });
  return {
    begin: (isolationLevel) => Promise.resolve({ started: runner.startTransaction(isolationLevel) }),
    isInTransaction: async () => (await sendText(probe)).inTransaction !== false,
    send,
    watchEnd: () => session.watchEnd?.(),
    async limitIdle(milliseconds) {
      isLimited = true; // Even if the answer is lost.
      await sendText(idleLimit.begin(milliseconds));
    },
    async unlimitIdle() {
      if (isLimited && idleLimit.end !== undefined) await sendText(idleLimit.end);
    },
    destroy: () => session.destroy(),
  };
}

function sqliteSession(
  runner: QueryRunner,
  database: SqliteDatabase,
  { clock, statementTimeoutMs }: SessionLimits,
): ApplicationSession {
  return {
    async begin(isolationLevel) {
      const endsAtMs = clock.monotonicMs() + statementTimeoutMs;
      // Otherwise TypeORM would only create a savepoint, and the owner of the other transaction could roll it back.
      while (runner.isTransactionActive || database.inTransaction) {
        if (clock.monotonicMs() >= endsAtMs) {
          throw new InvalidLockUseError(
            `Could not begin the run's transaction: the DataSource's only SQLite connection was in another transaction for ${statementTimeoutMs} ms. If your job began that transaction, complete the run in it with completeRunIn(manager).`,
          );
        }
        await pause(clock, RETRY_DELAY_MS);
      }
      return { started: runner.startTransaction(isolationLevel) };
    },
    isInTransaction: () => Promise.resolve(database.inTransaction),
    async send({ text, values }) {
      const rows = await Promise.resolve(database.prepare(text).all(...values));
      return { rows: rows as SqlResult['rows'], affectedRows: undefined, insertId: undefined };
    },
    // SQLite rejects COMMIT outside a transaction.
    watchEnd: () => ({ isCommitted: () => true, stop: () => {} }),
    limitIdle: () => Promise.resolve(),
    unlimitIdle: () => Promise.resolve(),
    destroy: () => {},
  };
}
