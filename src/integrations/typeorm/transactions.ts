import { TypeORMError, type EntityManager } from 'typeorm';
import { InvalidLockUseError } from '../../core';
import { requiredContext } from '../../ledger/tick/run-context';
import { databaseOf, dataSourceOf } from '../../storage/typeorm/database';
import { COMPLETE_RUN_IN, completeIn } from '../sql/completion';
import { runInTransaction, type RunTransactionOptions } from '../sql/run-transaction';
import { SUBPATH, transactionOf } from './run-transaction';

/**
 * Runs `work` in a transaction of the application's DataSource that also completes the current run. The effects in the
 * database and the completion are committed together or not at all, so the effects happen exactly once even if another
 * process also holds the run. The value that `work` returns is stored as the result.
 *
 * If the transaction fails, it has had no effect, and you may call this function again. The server ends the connection
 * when it is idle for longer than the rest of the lease, but at least for one second (not on SQLite). So a stopped
 * process does not block other instances for longer. Not covered are effects outside the database, statements that do
 * not go through the manager, and what `work` commits itself.
 *
 * @throws ClaimLostError if another process has taken the run over, or if the database ended the transaction after the
 * lease. Everything is rolled back. `cause` is the error of the database, if there was one.
 * @throws RunAlreadyCompletedError if the run is completed already
 * @throws InvalidLockUseError outside a run, after `giveBack` or `skip`, if the DataSource is not connected or the guard
 * was not created from a DataSource, or if `work` has ended the transaction or left a nested one open
 * @throws the error of `work` or of the transaction
 */
export async function inRunTransaction<T>(
  work: (manager: EntityManager) => T | PromiseLike<T>,
  options: RunTransactionOptions = {},
): Promise<T> {
  const isClientError = (error: unknown): boolean => error instanceof TypeORMError;
  return await runInTransaction({ subpath: SUBPATH, work, isClientError }, options);
}

/**
 * Completes the current run in your own transaction. Call it last before COMMIT: the effects of the transaction are then
 * committed exactly once. If the handler resolves and the transaction was not committed, the attempt counts as failed.
 * Prefer `inRunTransaction`, which also limits how long a stopped process blocks the run.
 *
 * Extend the lock before the transaction begins, not inside it. The extension writes the row of the run, and a
 * transaction with an older snapshot then cannot complete it (PostgreSQL 40001, MariaDB 1020).
 *
 * @param manager of the transaction, from `dataSource.transaction`
 * @param result stored as the result of the run, if it can be serialized as JSON
 * @throws ClaimLostError if another process has taken the run over. The transaction must be rolled back.
 * @throws RunAlreadyCompletedError if the run is completed already
 * @throws InvalidLockUseError outside a run or a transaction, after `giveBack` or `skip`, or if the ledger is in another
 * database
 */
export async function completeRunIn(manager: EntityManager, result?: unknown): Promise<void> {
  requiredContext(COMPLETE_RUN_IN);
  const { queryRunner } = manager;
  if (queryRunner?.isTransactionActive !== true) {
    throw new InvalidLockUseError(
      `${COMPLETE_RUN_IN} needs a manager with an open transaction. Call it inside dataSource.transaction(async (manager) => { … }), or use inRunTransaction().`,
    );
  }
  const database = databaseOf(dataSourceOf(manager));
  await completeIn((ledger) => transactionOf(queryRunner, ledger), database, result);
}
