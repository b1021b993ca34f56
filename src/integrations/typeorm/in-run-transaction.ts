import { TypeORMError, type EntityManager } from 'typeorm';
import { runInTransaction, type RunTransactionOptions } from '../sql/run-transaction';
import { SUBPATH } from './run-transaction';

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
