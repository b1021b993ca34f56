import type { DataSource } from 'typeorm';
import {
  InvalidLockConfigurationError,
  StorageBasedLockProvider,
  systemClock,
  type Clock,
  type StorageBasedLockProviderOptions,
} from '../../core';
import { describeValue } from '../../core/describe-value';
import { parsePositiveDuration } from '../../core/duration';
import { lockTableOf, type LockTableOptions } from '../sql/lock-table';
import { PooledSqlExecutor, type ConnectionSource } from '../sql/pooled-sql-executor';
import type { SqlDialect } from '../sql/sql-dialect';
import { SqlStorageAccessor } from '../sql/sql-storage-accessor';
import { sqlite } from '../sql/dialects/sqlite';
import { describeDatabase } from './database';
import { OwnMysqlConnections, SharedMysqlConnections } from './mysql-connections';
import { OwnSqliteConnection, SharedSqliteConnection } from './sqlite-connections';

export interface TypeOrmLockProviderOptions
  extends LockTableOptions, Omit<StorageBasedLockProviderOptions, 'id' | 'nameLength'> {
  /**
   * `'own'` (default): two connections of its own, opened at the first use, so that jobs that hold all of the
   * application's connections cannot keep a lease from being renewed. `'shared'`: the application's pool. Databases in
   * memory are always shared.
   */
  readonly connections?: 'own' | 'shared' | undefined;
  readonly onWarning?: ((message: string) => void) | undefined;
}

/**
 * Locks in a table of the database that a TypeORM DataSource leads to. The DataSource may be initialized or not; it
 * is never initialized or closed here.
 */
export class TypeOrmLockProvider extends StorageBasedLockProvider {
  readonly #accessor: SqlStorageAccessor;

  /** @throws InvalidLockConfigurationError for a kind of database that is not supported, or an identifier that cannot be one */
  constructor(dataSource: DataSource, options: TypeOrmLockProviderOptions = {}) {
    const database = describeDatabase(dataSource);
    const table = lockTableOf(options);
    const { clock = systemClock, statementTimeout = '5s', connections = 'own' } = options;
    if (connections !== 'own' && connections !== 'shared') {
      throw new InvalidLockConfigurationError(
        `connections is ${describeValue(connections)}: use 'own' or 'shared'.`,
      );
    }
    const source = connectionsOf(dataSource, {
      dialect: database.dialect,
      shared: database.isInMemory || connections === 'shared',
      clock,
      statementTimeoutMs: parsePositiveDuration(statementTimeout, 'statementTimeout'),
      warn: options.onWarning ?? ((message) => process.emitWarning(message, { code: 'CRONLATCH' })),
    });
    const accessor = new SqlStorageAccessor({
      ...database,
      table,
      executor: new PooledSqlExecutor(source, database.dialect, clock),
    });
    super(accessor, {
      ...options,
      id: `${database.place}:${table.path.join('.')}`,
      nameLength: table.nameLength,
    });
    this.#accessor = accessor;
  }

  /**
   * Opens the first connection and reads the lock table.
   *
   * @throws SchemaMismatchError when the table or a column is missing; it names the migration
   * @throws LockStorageError when the database cannot be reached; it names the address
   */
  async check(): Promise<void> {
    await this.#accessor.probe({ timeoutMs: this.statementTimeoutMs });
  }
}

interface ConnectionSettings {
  readonly dialect: SqlDialect;
  readonly shared: boolean;
  readonly clock: Clock;
  readonly statementTimeoutMs: number;
  readonly warn: (message: string) => void;
}

function connectionsOf(
  dataSource: DataSource,
  { dialect, shared, clock, statementTimeoutMs, warn }: ConnectionSettings,
): ConnectionSource {
  if (dialect === sqlite) {
    return shared
      ? new SharedSqliteConnection(dataSource, clock)
      : new OwnSqliteConnection(dataSource, clock, warn);
  }
  return shared
    ? new SharedMysqlConnections(dataSource, clock)
    : new OwnMysqlConnections(dataSource, clock, statementTimeoutMs);
}
