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

/** What the ledger does with a transaction of the application, on its connection. */
export interface ApplicationSession {
  /**
   * Begins the transaction as soon as there is no other one on the query runner, which all of a DataSource share on
   * SQLite. From then on it is the caller's to end, whether it `started` or not.
   *
   * @throws InvalidLockUseError when the other one does not end in time
   */
  begin(isolationLevel: IsolationLevel | undefined): Promise<{ readonly started: Promise<void> }>;
  /** Whether the database knows of a transaction, whatever has been done to it behind the query runner's back. */
  isInTransaction(): Promise<boolean>;
  /** Sends what is part of the transaction. Rejects with the driver's error. */
  send(statement: SqlStatement): Promise<SqlResult>;
  /** Watches the transaction that is open now. On MySQL nothing shows: COMMIT is answered alike after a roll-back. */
  watchEnd(): TransactionWatch | undefined;
  /** Inside the transaction: ends it when nothing has been sent for so long. SQLite cannot. */
  limitIdle(milliseconds: number): Promise<void>;
  /** After the transaction: the session is as it was. */
  unlimitIdle(): Promise<void>;
  /** Ends the connection at once, so that the server rolls back what is open on it. */
  destroy(): void;
}

export interface SessionLimits {
  readonly clock: Clock;
  readonly statementTimeoutMs: number;
}

/** The session of a query runner, on the connection that it works with. */
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

/** By the driver's connection, which the pool lends again and again. */
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
  const late = (): Error => new Error(`The database did not answer within ${statementTimeoutMs} ms.`);
  const send = (statement: SqlStatement): Promise<DriverAnswer> =>
    withinLimitOr(clock, session.send(statement, { prepared: false }), statementTimeoutMs, late);
  const sendText = (text: string): Promise<DriverAnswer> => send({ id: '', text, values: [] });
  return {
    begin: (isolationLevel) => Promise.resolve({ started: runner.startTransaction(isolationLevel) }),
    isInTransaction: async () => (await sendText(probe)).inTransaction !== false,
    send,
    watchEnd: () => session.watchEnd?.(),
    async limitIdle(milliseconds) {
      isLimited = true; // Also when its answer is lost.
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
      // TypeORM would make a savepoint of it, which whoever began the other one can roll back.
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
    // SQLite refuses a COMMIT outside a transaction.
    watchEnd: () => ({ isCommitted: () => true, stop: () => {} }),
    limitIdle: () => Promise.resolve(),
    unlimitIdle: () => Promise.resolve(),
    destroy: () => {},
  };
}
