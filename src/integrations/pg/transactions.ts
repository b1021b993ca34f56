import type { ClientBase, PoolClient } from 'pg';
import {
  isPostgresError,
  postgresDriver,
  postgresSessionOf,
  type PostgresClient,
} from '../../storage/pg/postgres-driver';
import { describeServer } from '../../storage/sql/database/sql-database';
import { completeInAdapted, isAdapted, type AdaptedTransaction } from '../sql/adapted-transaction';
import { checkConnection, completeIn } from '../sql/completion';
import { runInTransaction, type RunTransactionOptions } from '../sql/run-transaction';
import { serverTransaction } from '../sql/transaction';

export const SUBPATH = 'cronlatch/pg';

/**
 * Runs `work` in a transaction that also completes the current run. The effects in the database and the completion are
 * committed together or not at all, so the effects happen exactly once even if another process also holds the run. The
 * value that `work` returns is stored as the result.
 *
 * `work` gets a client of your pool. If the guard was made from an address, it opens up to `transactionConnections`
 * for this. If the transaction fails, it has had no effect, and you may call this function again. The server ends the
 * connection when it is idle for longer than the rest of the lease, but at least for one second. Not covered are effects
 * outside the database, statements on other connections, and what `work` commits itself.
 *
 * @throws ClaimLostError if another process has taken the run over, or if the database ended the transaction after the
 * lease. Everything is rolled back. `cause` is the error of the database, if there was one.
 * @throws RunAlreadyCompletedError if the run is completed already
 * @throws InvalidLockUseError outside a run, after `giveBack` or `skip`, if the guard was not created by
 * cronlatch/pg, or if `work` has ended the transaction
 * @throws the error of `work` or of the transaction
 */
export async function inRunTransaction<T>(
  work: (client: PoolClient) => T | PromiseLike<T>,
  options: RunTransactionOptions = {},
): Promise<T> {
  return await runInTransaction({ subpath: SUBPATH, work, isClientError: isPostgresError }, options);
}

/**
 * Completes the current run in your own transaction. Call it last before COMMIT: the effects of the transaction are then
 * committed exactly once. If the handler resolves and the transaction was not committed, the attempt counts as failed.
 * Prefer `inRunTransaction`, which also limits how long a stopped process blocks the run.
 *
 * @param client on which you have begun the transaction, or the transaction of a query builder, from
 * `cronlatch/adapters`
 * @param result stored as the result of the run, if it can be serialized as JSON
 * @throws ClaimLostError if another process has taken the run over. The transaction must be rolled back.
 * @throws RunAlreadyCompletedError if the run is completed already
 * @throws InvalidLockUseError outside a run or a transaction, after `giveBack` or `skip`, or if the ledger is in another
 * database
 */
export async function completeRunIn(
  client: ClientBase | AdaptedTransaction,
  result?: unknown,
): Promise<void> {
  if (isAdapted(client)) return await completeInAdapted(client, result);
  checkConnection(client, isClient(client));
  const { host, port, database } = client as ClientBase & Partial<Record<string, string>>;
  const address = describeServer(postgresDriver.dialect, { host, port, database, secrets: [] });
  const session = postgresSessionOf(client as unknown as PostgresClient);
  await completeIn((ledger) => serverTransaction(session, postgresDriver, ledger), address, result);
}

/** A pool has the same methods, and would send each statement on another connection. */
function isClient(client: unknown): boolean {
  return (
    typeof client === 'object' &&
    client !== null &&
    'query' in client &&
    'database' in client &&
    !('totalCount' in client)
  );
}
