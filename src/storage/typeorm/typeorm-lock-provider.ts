import type { DataSource } from 'typeorm';
import { StorageBasedLockProvider, type StorageBasedLockProviderOptions } from '../../core';
import type { LockTableOptions } from '../sql/schema/lock-table';
import type { SchemaFinding } from '../sql/schema/schema-finding';
import { SqlStorageAccessor } from '../sql/lock/sql-storage-accessor';
import { lockTableIn } from './database';
import { DatabaseAccess, type DatabaseAccessOptions } from './database-access';

export interface TypeOrmLockProviderOptions
  extends
    LockTableOptions,
    Omit<DatabaseAccessOptions, keyof StorageBasedLockProviderOptions>,
    Omit<StorageBasedLockProviderOptions, 'id' | 'nameLength'> {}

/**
 * Locks in a table of the database that a TypeORM DataSource leads to. The DataSource may be initialized or not; it
 * is never initialized or closed here.
 */
export class TypeOrmLockProvider extends StorageBasedLockProvider {
  readonly #accessor: SqlStorageAccessor;
  readonly #access: DatabaseAccess;
  readonly #ownsAccess: boolean;
  readonly #path: readonly string[];

  /**
   * @param shared connections to the same DataSource that somebody else closes, instead of two more
   * @throws InvalidLockConfigurationError for a kind of database that is not supported, or an identifier that cannot be one
   */
  constructor(dataSource: DataSource, options: TypeOrmLockProviderOptions = {}, shared?: DatabaseAccess) {
    const access = shared ?? new DatabaseAccess(dataSource, options);
    const table = lockTableIn(dataSource, options);
    const accessor = new SqlStorageAccessor({ ...access.forTables, table });
    super(accessor, { ...options, nameLength: table.nameLength });
    this.#accessor = accessor;
    this.#access = access;
    this.#ownsAccess = shared === undefined;
    this.#path = table.path;
  }

  /** Known when the table was checked, because the server names itself. */
  override get id(): string | undefined {
    const { found } = this.#accessor;
    return found && this.#access.placeOfFound(this.#path, found);
  }

  override async close(): Promise<void> {
    await super.close();
    if (this.#ownsAccess) await this.#access.close();
  }

  /**
   * Opens the first connection and looks at the lock table.
   *
   * @throws SchemaMismatchError with every reason why no lock can be kept in the table, each with what to do
   * @throws LockStorageError when the database cannot be reached; it names the address
   */
  async check(): Promise<void> {
    this.#access.checkLimits();
    await this.#accessor.check({ timeoutMs: this.statementTimeoutMs });
  }

  /**
   * Looks at the lock table and tells all that a user should know of it; nothing where it is as the migration makes it.
   * Each finding says what to do.
   *
   * @throws LockStorageError when the database cannot be reached; it names the address
   */
  async verifySchema(): Promise<readonly SchemaFinding[]> {
    return await this.#accessor.verifySchema({ timeoutMs: this.statementTimeoutMs });
  }
}
