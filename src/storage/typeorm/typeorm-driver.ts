import {
  DataSource,
  TypeORMError,
  type DataSourceOptions,
  type EntityManager,
  type QueryRunner,
} from 'typeorm';
import { InvalidLockConfigurationError, InvalidLockUseError } from '../../core';
import { pause } from '../../core/clock';
import { RETRY_DELAY_MS, runStatement, type SqliteDatabase } from '../better-sqlite3/sqlite-database';
import type { Driver } from '../sql/database/driver';
import {
  answerOf,
  serverTransaction,
  type Limits,
  type RunTransaction,
  type Transaction,
} from '../sql/connections/transaction';
import type { SqlDatabase } from '../sql/connections/sql-database';
import { databaseOf, dataSourceOf, dialectOf, handleOf, isDataSourceOptions, sessionOf } from './database';

export type TypeOrmSource = DataSource | DataSourceOptions;

/** The DataSource opens the connections and ends the transactions. The driver behind it sends the statements. */
export const typeormDriver: Driver<TypeOrmSource, EntityManager, EntityManager> = {
  subpath: 'cronlatch/typeorm',
  isClientError: (error) => error instanceof TypeORMError,

  read(source, { password } = {}) {
    const isOptions = isDataSourceOptions(source);
    const dataSource = isOptions ? dataSourceWith(source) : source;
    const database = databaseOf(dataSource, password);
    const lend = (limits: Limits) => lendTransaction(dataSource, database, limits);
    if (isOptions && database.isInMemory)
      throw new InvalidLockConfigurationError(
        'A database in memory exists only in a connected DataSource. Pass the DataSource, not its options.',
      );
    return { ...database, subpath: typeormDriver.subpath, lend, waiting: () => waitingIn(dataSource) };
  },

  transactionOn(manager) {
    const { queryRunner } = manager;
    if (queryRunner?.isTransactionActive !== true) {
      throw new InvalidLockUseError(
        'completeRunIn() needs a manager with an open transaction. Call it inside dataSource.transaction(async (manager) => { … }), or use inRunTransaction().',
      );
    }
    const database = databaseOf(dataSourceOf(manager));
    refuseOtherRepositories(manager);
    const open = (limits: Limits): Promise<Transaction> => transactionOf(queryRunner, database, limits);
    return { dialect: database.dialect.name, open };
  },
};

/**
 * A DataSource that finds the driver and the address of the options. It must never be initialized: that could also run
 * migrations, or synchronize the tables of the application.
 *
 * @throws InvalidLockConfigurationError for an unsupported kind of database
 */
export function dataSourceWith(options: DataSourceOptions): DataSource {
  dialectOf(options.type);
  return new DataSource(options);
}

/** @throws InvalidLockUseError if typeorm-transactional puts the manager's repositories into its own transaction */
function refuseOtherRepositories(manager: EntityManager): void {
  const [entity] = dataSourceOf(manager).entityMetadatas;
  const repository = entity && manager.getRepository(entity.target);
  if (repository === undefined || repository.manager.queryRunner === manager.queryRunner) return;
  throw new InvalidLockUseError(
    'Cannot complete a run in this transaction, because @Transactional() of typeorm-transactional puts what manager.getRepository() writes into another one. Call inRunTransaction() outside of it, or complete the run in it with completeRunIn(dataSource.manager).',
  );
}

interface LendingPool {
  readonly waitingCount?: number;
  readonly _connectionQueue?: { readonly length: number };
}

/** In the pool of pg or mysql2 behind a DataSource. With replication, mysql2 has a pool for each server. */
function waitingIn({ driver }: DataSource): number {
  const { master, pool, poolCluster } = driver as unknown as Partial<Record<string, LendingPool>> & {
    readonly poolCluster?: { readonly _nodes: { readonly MASTER?: { readonly pool: LendingPool } } };
  };
  const lending = master ?? pool ?? poolCluster?._nodes.MASTER?.pool;
  return lending?.waitingCount ?? lending?._connectionQueue?.length ?? 0;
}

async function transactionOf(
  runner: QueryRunner,
  { sessions }: SqlDatabase,
  limits: Limits,
): Promise<Transaction> {
  if (sessions !== undefined) return serverTransaction(await sessionOf(runner), sessions.driver, limits);
  const database = await handleOf(runner);
  return {
    send: async (statement) => await Promise.resolve(runStatement(database, statement)),
    isOpen: () => Promise.resolve(database.inTransaction),
    // SQLite rejects COMMIT outside a transaction.
    watchEnd: () => ({ isCommitted: () => true, stop: () => {} }),
  };
}

/** What `inRunTransaction` works with, on the connection of a new query runner. */
async function lendTransaction(
  dataSource: DataSource,
  database: SqlDatabase,
  limits: Limits,
): Promise<RunTransaction<EntityManager>> {
  if (!dataSource.isInitialized) {
    throw new InvalidLockUseError(
      'inRunTransaction() needs a connected DataSource. Pass createJobGuard() the DataSource, not its options, and first call await dataSource.initialize().',
    );
  }
  const runner = dataSource.createQueryRunner('master');
  refuseOtherRepositories(runner.manager);
  let hasBegun = false;
  try {
    return {
      ...(await transactionOf(runner, database, limits)),
      connection: runner.manager,
      get isActive() {
        return hasBegun && runner.isTransactionActive;
      },
      /** Subscribers can send statements between the completion and COMMIT, and catch the error of one that undoes both. */
      get sendsBeforeCommit() {
        return dataSource.subscribers.some((subscriber) => subscriber.beforeTransactionCommit !== undefined);
      },
      async begin(isolationLevel) {
        if (database.sessions === undefined) await untilFree(runner, await handleOf(runner), limits);
        hasBegun = true;
        await answerOf(runner.startTransaction(isolationLevel), limits);
      },
      commit: () => runner.commitTransaction(),
      rollBack: () => runner.rollbackTransaction(),
      release: () => runner.release(),
    };
  } catch (error) {
    await runner.release();
    throw error;
  }
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
  { clock, statementTimeoutMs }: Limits,
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
