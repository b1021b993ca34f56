import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { InvalidLockUseError } from '../../core';
import { pause } from '../../core/clock';
import type { LedgerContext } from '../../ledger/store-statements';
import {
  RETRY_DELAY_MS,
  runStatement,
  type SqliteDatabase,
} from '../../storage/better-sqlite3/sqlite-database';
import { mysqlServer } from '../../storage/mysql2/mysql-server';
import { postgresServer } from '../../storage/pg/postgres-server';
import { mysql } from '../../storage/sql/dialects/mysql';
import { sqlite } from '../../storage/sql/dialects/sqlite';
import { dataSourceOf, dialectOf, handleOf, sessionOf } from '../../storage/typeorm/database';
import { IN_RUN_TRANSACTION } from '../sql/run-transaction';
import { serverTransaction, type RunTransaction, type Transaction } from '../sql/transaction';

export const SUBPATH = 'cronlatch/typeorm';

/** Returns a function that opens a transaction of the DataSource for `inRunTransaction`. */
export function openRunTransaction(
  dataSource: DataSource,
): (ledger: LedgerContext) => Promise<RunTransaction<EntityManager>> {
  return async (ledger) => {
    if (!dataSource.isInitialized) {
      throw new InvalidLockUseError(
        `${IN_RUN_TRANSACTION} needs a connected DataSource. First call await dataSource.initialize() on the one that you passed to createJobGuard().`,
      );
    }
    const runner = dataSource.createQueryRunner('master');
    try {
      return runTransactionOf(runner, await transactionOf(runner, ledger), ledger);
    } catch (error) {
      await runner.release();
      throw error;
    }
  };
}

/** The transaction that is open on the connection of a query runner. */
export async function transactionOf(runner: QueryRunner, ledger: LedgerContext): Promise<Transaction> {
  const dialect = dialectOf(dataSourceOf(runner).options.type);
  if (dialect === sqlite) return fileTransaction(await handleOf(runner));
  const server = dialect === mysql ? mysqlServer : postgresServer;
  return serverTransaction(await sessionOf(runner), server, ledger);
}

function fileTransaction(database: SqliteDatabase): Transaction {
  return {
    send: async (statement) => await Promise.resolve(runStatement(database, statement)),
    isOpen: () => Promise.resolve(database.inTransaction),
    // SQLite rejects COMMIT outside a transaction.
    watchEnd: () => ({ isCommitted: () => true, stop: () => {} }),
  };
}

function runTransactionOf(
  runner: QueryRunner,
  transaction: Transaction,
  ledger: LedgerContext,
): RunTransaction<EntityManager> {
  const dataSource = dataSourceOf(runner);
  let hasBegun = false;
  return {
    ...transaction,
    connection: runner.manager,
    get isActive() {
      return hasBegun && runner.isTransactionActive;
    },
    /** Subscribers can send statements between the completion and COMMIT, and catch the error of one that undoes both. */
    get sendsBeforeCommit() {
      return dataSource.subscribers.some((subscriber) => subscriber.beforeTransactionCommit !== undefined);
    },
    async begin(isolationLevel) {
      const isFile = dialectOf(dataSource.options.type) === sqlite;
      if (isFile) await untilFree(runner, await handleOf(runner), ledger);
      hasBegun = true;
      await runner.startTransaction(isolationLevel);
    },
    commit: () => runner.commitTransaction(),
    rollBack: () => runner.rollbackTransaction(),
    release: () => runner.release(),
  };
}

/**
 * On SQLite, all users of a DataSource share one query runner. Inside the transaction of another, TypeORM would only
 * create a savepoint, and its owner could roll it back.
 *
 * @throws InvalidLockUseError if the other transaction does not end in time
 */
async function untilFree(
  runner: QueryRunner,
  database: SqliteDatabase,
  { clock, statementTimeoutMs }: LedgerContext,
): Promise<void> {
  const endsAtMs = clock.monotonicMs() + statementTimeoutMs;
  while (runner.isTransactionActive || database.inTransaction) {
    if (clock.monotonicMs() >= endsAtMs) {
      throw new InvalidLockUseError(
        `Could not begin the run's transaction: the DataSource's only SQLite connection was in another transaction for ${statementTimeoutMs} ms. If your job began that transaction, complete the run in it with completeRunIn(manager).`,
      );
    }
    await pause(clock, RETRY_DELAY_MS);
  }
}
