import type { Connection as CallbackConnection } from 'mysql2';
import type { Connection, PoolConnection } from 'mysql2/promise';
import {
  isMysqlError,
  mysqlDriver,
  mysqlSessionOf,
  type MysqlConnection,
} from '../../storage/mysql2/mysql-driver';
import { describeServer } from '../../storage/sql/database/sql-database';
import { completeInAdapted, isAdapted, type AdaptedTransaction } from '../sql/adapted-transaction';
import { checkConnection, completeIn } from '../sql/completion';
import { runInTransaction, type RunTransactionOptions } from '../sql/run-transaction';
import { serverTransaction } from '../sql/transaction';

export const SUBPATH = 'cronlatch/mysql2';

/**
 * Runs `work` in a transaction that also completes the current run. The effects in the database and the completion are
 * committed together or not at all, so the effects happen exactly once even if another process also holds the run. The
 * value that `work` returns is stored as the result.
 *
 * `work` gets a connection of your pool. If the guard was made from an address, it opens up to `transactionConnections`
 * for this. If the transaction fails, it has had no effect, and you may call this function again. The server ends the
 * connection when it is idle for longer than the rest of the lease, but at least for one second. Not covered are effects
 * outside the database, statements on other connections, and what `work` commits itself.
 *
 * @throws ClaimLostError if another process has taken the run over, or if the database ended the transaction after the
 * lease. Everything is rolled back. `cause` is the error of the database, if there was one.
 * @throws RunAlreadyCompletedError if the run is completed already
 * @throws InvalidLockUseError outside a run, after `giveBack` or `skip`, if the guard was not created by
 * cronlatch/mysql2, or if `work` has ended the transaction
 * @throws the error of `work` or of the transaction
 */
export async function inRunTransaction<T>(
  work: (connection: PoolConnection) => T | PromiseLike<T>,
  options: RunTransactionOptions = {},
): Promise<T> {
  return await runInTransaction({ subpath: SUBPATH, work, isClientError: isMysqlError }, options);
}

/**
 * Completes the current run in your own transaction. Call it last before COMMIT: the effects of the transaction are then
 * committed exactly once. If the handler resolves and the transaction was not committed, the attempt counts as failed.
 * Prefer `inRunTransaction`, which also limits how long a stopped process blocks the run.
 *
 * @param connection on which you have begun the transaction, or the transaction of a query builder, from
 * `cronlatch/adapters`
 * @param result stored as the result of the run, if it can be serialized as JSON
 * @throws ClaimLostError if another process has taken the run over. The transaction must be rolled back.
 * @throws RunAlreadyCompletedError if the run is completed already
 * @throws InvalidLockUseError outside a run or a transaction, after `giveBack` or `skip`, or if the ledger is in another
 * database
 */
export async function completeRunIn(
  connection: Connection | CallbackConnection | AdaptedTransaction,
  result?: unknown,
): Promise<void> {
  if (isAdapted(connection)) return await completeInAdapted(connection, result);
  const core = coreOf(connection);
  const { host, port, socketPath, database } = core.config;
  const address = describeServer(mysqlDriver.dialect, { host, port, socketPath, database, secrets: [] });
  const session = mysqlSessionOf(core as unknown as MysqlConnection);
  await completeIn((ledger) => serverTransaction(session, mysqlDriver, ledger), address, result);
}

function coreOf(connection: unknown): CoreConnection {
  const isObject = typeof connection === 'object' && connection !== null;
  const core = isObject && 'connection' in connection ? connection.connection : connection;
  const { config, execute } = (core ?? {}) as Partial<CoreConnection>;
  const isPool = config !== undefined && 'connectionConfig' in config;
  checkConnection(connection, typeof execute === 'function' && config !== undefined && !isPool);
  return core as CoreConnection;
}

/** A connection with callbacks, whose settings mysql2 does not declare. */
type CoreConnection = CallbackConnection & {
  readonly config: {
    readonly host?: string;
    readonly port?: number;
    readonly socketPath?: string;
    readonly database?: string;
  };
};
