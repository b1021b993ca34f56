import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { InvalidLockUseError } from '../../core';
import { pause } from '../../core/clock';
import {
  RETRY_DELAY_MS,
  runStatement,
  type SqliteDatabase,
} from '../../storage/better-sqlite3/sqlite-connection';
import { mysqlDriver, mysqlSessionOf, type MysqlConnection } from '../../storage/mysql2/mysql-driver';
import { postgresDriver, postgresSessionOf, type PostgresClient } from '../../storage/pg/postgres-driver';
import {
  ServerApplicationSession,
  type ApplicationSession,
  type SessionLimits,
} from '../../storage/sql/database/application-session';
import type { IsolationLevel, TransactionWatch } from '../../storage/sql/connections/server-driver';
import type { SqlResult, SqlStatement } from '../../storage/sql/connections/sql-executor';
import { mysql } from '../../storage/sql/dialects/mysql';
import { sqlite } from '../../storage/sql/dialects/sqlite';
import { dataSourceOf, dialectOf } from '../../storage/typeorm/database';
import type { RunTransaction } from '../sql/run-databases';
import { IN_RUN_TRANSACTION } from '../sql/run-transaction';

export const SUBPATH = 'cronlatch/typeorm';

/** Returns a function that opens a transaction of the DataSource for `inRunTransaction`. */
export function openRunTransaction(
  dataSource: DataSource,
): (limits: SessionLimits) => Promise<RunTransaction<EntityManager>> {
  return async (limits) => {
    if (!dataSource.isInitialized) {
      throw new InvalidLockUseError(
        `${IN_RUN_TRANSACTION} needs a connected DataSource. First call await dataSource.initialize() on the one that you passed to createJobGuard().`,
      );
    }
    const runner = dataSource.createQueryRunner('master');
    try {
      return new RunnerTransaction(runner, await applicationSession(runner, limits), limits);
    } catch (error) {
      await runner.release();
      throw error;
    }
  };
}

/** Returns the session of the connection that a query runner uses. */
export async function applicationSession(
  runner: QueryRunner,
  limits: SessionLimits,
): Promise<ApplicationSession> {
  const dialect = dialectOf(dataSourceOf(runner).options.type);
  const connection: unknown = await runner.connect();
  if (dialect === sqlite) return new SqliteApplicationSession(connection as SqliteDatabase);
  const [session, driver] =
    dialect === mysql
      ? ([mysqlSessionOf(connection as MysqlConnection), mysqlDriver] as const)
      : ([postgresSessionOf(connection as PostgresClient), postgresDriver] as const);
  return new ServerApplicationSession(session, driver, limits);
}

/** A transaction of TypeORM. */
class RunnerTransaction implements RunTransaction<EntityManager> {
  constructor(
    private readonly runner: QueryRunner,
    readonly session: ApplicationSession,
    private readonly limits: SessionLimits,
  ) {}

  get connection(): EntityManager {
    return this.runner.manager;
  }

  get isActive(): boolean {
    return this.runner.isTransactionActive;
  }

  /** Subscribers can send statements between the completion and COMMIT, and catch the error of one that undoes both. */
  get sendsBeforeCommit(): boolean {
    const { subscribers } = dataSourceOf(this.runner);
    return subscribers.some((subscriber) => subscriber.beforeTransactionCommit !== undefined);
  }

  async begin(isolationLevel: IsolationLevel | undefined): Promise<{ started: Promise<void> }> {
    if (this.session instanceof SqliteApplicationSession) await this.#untilFree(this.session);
    return { started: this.runner.startTransaction(isolationLevel) };
  }

  commit(): Promise<void> {
    return this.runner.commitTransaction();
  }

  rollBack(): Promise<void> {
    return this.runner.rollbackTransaction();
  }

  release(): Promise<void> {
    return this.runner.release();
  }

  /**
   * On SQLite, all users of a DataSource share one query runner. Inside the transaction of another, TypeORM would only
   * create a savepoint, and its owner could roll it back.
   *
   * @throws InvalidLockUseError if the other transaction does not end in time
   */
  async #untilFree({ database }: SqliteApplicationSession): Promise<void> {
    const { clock, statementTimeoutMs } = this.limits;
    const endsAtMs = clock.monotonicMs() + statementTimeoutMs;
    while (this.isActive || database.inTransaction) {
      if (clock.monotonicMs() >= endsAtMs) {
        throw new InvalidLockUseError(
          `Could not begin the run's transaction: the DataSource's only SQLite connection was in another transaction for ${statementTimeoutMs} ms. If your job began that transaction, complete the run in it with completeRunIn(manager).`,
        );
      }
      await pause(clock, RETRY_DELAY_MS);
    }
  }
}

/** The session of TypeORM's connection to a SQLite file. */
class SqliteApplicationSession implements ApplicationSession {
  constructor(readonly database: SqliteDatabase) {}

  isInTransaction(): Promise<boolean> {
    return Promise.resolve(this.database.inTransaction);
  }

  async send(statement: SqlStatement): Promise<SqlResult> {
    return await Promise.resolve(runStatement(this.database, statement));
  }

  /** SQLite rejects COMMIT outside a transaction. */
  watchEnd(): TransactionWatch {
    return { isCommitted: () => true, stop: () => {} };
  }

  change(): Promise<void> {
    return Promise.resolve();
  }

  limitIdle(): Promise<void> {
    return Promise.resolve();
  }

  restore(): Promise<void> {
    return Promise.resolve();
  }

  destroy(): void {}
}
