import type { JobGuard } from '../../guard';
import { checkOptionNames } from '../../core/options';
import type { Driver, ReadSource } from '../../storage/sql/database/driver';
import {
  SqlLockProvider,
  STORE_OPTIONS,
  type SqlLockProviderOptions,
} from '../../storage/sql/database/sql-lock-provider';
import {
  SqlRowLockProvider,
  type RowLockProviderOptions,
} from '../../storage/sql/row-lock/row-lock-provider';
import type { SchemaFinding } from '../../storage/sql/schema/schema-finding';
import { readAdapted, type AdaptedTransaction } from './adapted-transaction';
import { completeIn, runOf, unusableConnection, type CompleteRunOptions } from './completion';
import { createGuard, type CreateJobGuardOptions, type PoolGuardOptions } from './create-guard';
import { runInTransaction, type RunTransactionOptions } from './run-transaction';
import { createMissingTables, inspectTables, type TablesOptions } from './tables';

/**
 * What the subpaths of the SQL drivers and of TypeORM export, documented once. `Source` is what an application passes: an
 * address, options, a pool, an open database or a DataSource.
 */
export interface SqlEntry<Source, Options extends CreateJobGuardOptions = CreateJobGuardOptions> {
  /**
   * Creates a guard whose locks and runs are in your database. By default, the guard opens two connections of its own, and
   * up to four more while statements wait for locked rows. On SQLite it opens one. Closing the guard closes them. It never
   * closes your pool, your database or your DataSource.
   *
   * It checks the lock table at startup. It checks the ledger's tables too if a once-per job is decorated by then;
   * otherwise it does so when the first one runs. Tables that work within a limit cause `guard:warning` events.
   *
   * @param source leads to the database. The guard connects with its settings. Only a database in memory is used on the
   * connection of the application. A SQLite file must exist. A DataSource does not need to be initialized. From options of
   * a DataSource, the guard opens its own connections, and runs no migrations.
   * @throws SchemaMismatchError if a table cannot be used. The message lists every problem with its fix.
   * @throws LockStorageError if the database cannot be reached. The message contains its address, without credentials.
   * @throws InvalidLockConfigurationError for an unusable source, an unsupported kind of database or an invalid option
   */
  createJobGuard(this: void, source: Source, options?: Options): Promise<JobGuard>;

  /**
   * Creates the tables that are missing, and also the file if the source is the address of one. Call it when you deploy: it
   * needs the right to create tables.
   *
   * @throws SchemaMismatchError if a table exists that cannot be used. Nothing was changed.
   * @throws LockStorageError if the database cannot be reached or written, or refuses the statement
   */
  createTables(this: void, source: Source, options?: TablesOptions): Promise<void>;

  /**
   * Checks the tables and returns their problems, each with its fix. Tables that `createTables` created have none.
   *
   * @throws LockStorageError if the database cannot be reached
   */
  verifySchema(this: void, source: Source, options?: TablesOptions): Promise<readonly SchemaFinding[]>;

  /** Keeps locks in the lock table. */
  readonly LockProvider: {
    /**
     * @param source as for `createJobGuard`. `close()` closes the connections that the provider has opened, and never yours.
     * @throws InvalidLockConfigurationError for an unusable source, or an invalid option or identifier
     */
    new (source: Source, options?: SqlLockProviderOptions): SqlLockProvider;
  };

  /** Holds each lock by an open transaction. */
  readonly RowLockProvider: {
    /**
     * @param source as for `createJobGuard`. The provider only reads its settings, and opens connections of its own.
     * @throws InvalidLockConfigurationError for an unusable source, for SQLite, or for an invalid option
     */
    new (source: Source, options?: RowLockProviderOptions): SqlRowLockProvider;
  };
}

/** The asynchronous transactions that complete a run. */
export interface RunTransactions<Connection, Lent> {
  /**
   * Runs `work` in a transaction that also completes the current run. The effects in the database and the completion are
   * committed together or not at all, so the effects happen exactly once even if another process also holds the run. The
   * value that `work` returns is stored as the result.
   *
   * `work` gets a connection of your pool, or the manager of a transaction of your DataSource. If the guard was made from
   * an address or options, it opens up to `transactionConnections` for this. If the transaction fails, it has had no
   * effect, and you may call this function again. The server ends the connection when it is idle for longer than the rest
   * of the lease, also with `keepAlive`, but at least for one second (not on SQLite). So a stopped process does not block
   * other instances for longer. Not covered are effects outside the database, statements on other connections, and what
   * `work` commits itself.
   *
   * @throws ClaimLostError if another process has taken the run over, or if the database ended the transaction because it
   * was idle. Everything is rolled back. `cause` is the error of the database, if there was one.
   * @throws RunAlreadyCompletedError if the run is completed already
   * @throws InvalidLockUseError outside a run, after `giveBack` or `skip`, if the guard was not created by the same
   * subpath, if the DataSource is not connected or `createJobGuard` got only its options, or if `work` has ended the
   * transaction, after which the run fails permanently, or left a nested one open
   * @throws the error of `work` or of the transaction
   */
  inRunTransaction<T>(
    this: void,
    work: (connection: Lent) => T | PromiseLike<T>,
    options?: RunTransactionOptions,
  ): Promise<T>;

  /**
   * Completes the current run in your own transaction. Call it last before COMMIT: the effects of the transaction are then
   * committed exactly once. If the handler resolves and the transaction was not committed, the attempt counts as failed.
   * Prefer `inRunTransaction`, which also limits how long a stopped process blocks the run.
   *
   * Extend the lock before the transaction begins, not inside it. The extension writes the row of the run, and a
   * transaction with an older snapshot then cannot complete it (PostgreSQL 40001, MariaDB 1020).
   *
   * @param connection on which you have begun the transaction, or an `AdaptedTransaction` of a query builder; for TypeORM the
   * manager of the transaction
   * @throws ClaimLostError if another process has taken the run over. The transaction must be rolled back.
   * @throws RunAlreadyCompletedError if the run is completed already
   * @throws InvalidLockUseError outside a run or a transaction, after `giveBack` or `skip`, if the ledger is in another
   * database, or without `run` on a connection that can be used in callbacks
   */
  completeRunIn(this: void, connection: Connection, options?: CompleteRunOptions): Promise<void>;
}

/** The entry of a driver, without its transactions. */
export function sqlEntry<Source, Options extends CreateJobGuardOptions>(
  read: ReadSource<Source, unknown>,
): SqlEntry<Source, Options> {
  return {
    async createJobGuard(source, options: PoolGuardOptions = {}) {
      return await createGuard(read(source, options), options);
    },
    async createTables(source, options = {}) {
      await createMissingTables(read(source, { ...options, creates: true }), options);
    },
    async verifySchema(source, options = {}) {
      return (await inspectTables(read(source, options), options)).flatMap(({ findings }) => findings);
    },
    LockProvider: class extends SqlLockProvider {
      constructor(source: Source, options: SqlLockProviderOptions = {}) {
        checkOptionNames(options, STORE_OPTIONS, new.target.name);
        super(read(source), options);
      }
    },
    RowLockProvider: class extends SqlRowLockProvider {
      constructor(source: Source, options: RowLockProviderOptions = {}) {
        super(read(source), options);
      }
    },
  };
}

/** The entry of a driver with asynchronous transactions, in which query builders can complete runs too. */
export function driverEntry<Source, Connection, Lent>(
  driver: Driver<Source, Connection, Lent>,
): SqlEntry<Source, PoolGuardOptions> & RunTransactions<Connection | AdaptedTransaction, Lent> {
  return {
    ...sqlEntry(driver.read),
    async inRunTransaction(work, options = {}) {
      return await runInTransaction(driver, work, options);
    },
    async completeRunIn(connection, options = {}) {
      runOf(options);
      // The driver decides first, because TypeORM refuses transactions of query builders.
      const given = driver.transactionOn(connection as Connection) ?? readAdapted(connection);
      if (given === undefined) throw unusableConnection(connection);
      await completeIn(given, options);
    },
  };
}
