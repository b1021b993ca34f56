import { StorageBasedLockProvider, systemClock, type StorageBasedLockProviderOptions } from '../../../core';
import { GroupingStorageAccessor } from '../lock/grouping-storage-accessor';
import { SqlStorageAccessor } from '../lock/sql-storage-accessor';
import type { LockTableOptions } from '../schema/table-options';
import { tableOf } from '../schema/tables';
import { DatabaseAccess, type DatabaseAccessOptions } from './database-access';
import type { SqlDatabase } from '../connections/sql-database';

export interface SqlLockProviderOptions
  extends
    LockTableOptions,
    Omit<DatabaseAccessOptions, keyof StorageBasedLockProviderOptions>,
    Omit<StorageBasedLockProviderOptions, 'id' | 'nameLength'> {}

const TABLES = ['lockTable', 'runTable', 'jobTable', 'schema', 'columns', 'nameLength'];
const STATEMENTS = ['connections', 'grouping', 'statementTimeout', 'keepRows'];
/** Of a lock provider and a run store, so that both can share an object. */
export const STORE_OPTIONS = [...TABLES, ...STATEMENTS, 'onWarning', 'clock', 'random'];

export class SqlLockProvider extends StorageBasedLockProvider {
  readonly #accessor: SqlStorageAccessor;
  readonly #access: DatabaseAccess;
  readonly #ownsAccess: boolean;
  readonly #keepsRows: boolean;

  /**
   * @param shared connections to the same database, which the caller closes. Default: two connections of its own.
   * @throws InvalidLockConfigurationError for an invalid option or identifier
   */
  constructor(database: SqlDatabase, options: SqlLockProviderOptions = {}, shared?: DatabaseAccess) {
    const access = shared ?? new DatabaseAccess(database, options);
    const table = tableOf('lock', options, database);
    const { keepRows = true, clock = systemClock, random = Math.random } = options;
    const { forTables, statementTimeoutMs } = access;
    const storage = { ...forTables, table, keepRows };
    const accessor =
      keepRows && access.sendsGroups(options)
        ? new GroupingStorageAccessor({ ...storage, clock, random, shortestLimitMs: statementTimeoutMs })
        : new SqlStorageAccessor(storage);
    super(accessor, options);
    this.#accessor = accessor;
    this.#access = access;
    this.#ownsAccess = shared === undefined;
    this.#keepsRows = keepRows;
  }

  /** A text in the lock table. `undefined` until it was read: by `check`, or by the first lock, which inserts it. */
  override get id(): string | undefined {
    return this.#accessor.place.id;
  }

  async refreshId(): Promise<void> {
    await this.#accessor.place.refresh({ timeoutMs: this.statementTimeoutMs });
  }

  override async close(): Promise<void> {
    await super.close();
    if (this.#ownsAccess) await this.#access.close();
  }

  /**
   * Opens the first connection and checks the lock table. Problems that do not stop locks from working are passed to
   * `onWarning`.
   *
   * @throws SchemaMismatchError if the table cannot hold locks safely. The message lists every problem with its fix.
   * @throws LockStorageError if the database cannot be reached. The message contains its address.
   */
  async check(): Promise<void> {
    this.#access.checkLimits();
    const { tables } = this.#accessor;
    const { shape } = await tables.check({ timeoutMs: this.statementTimeoutMs });
    if (!this.#keepsRows && !shape.hasToken)
      tables.warnOnce(
        `keepRows is false on a table without fencing_token, which ShedLock for Java may use. Java does not insert a deleted row again until it restarts, so its job would not run. Leave keepRows at true if Java uses the table.`,
      );
    await this.#accessor.place.refresh({ timeoutMs: this.statementTimeoutMs });
  }
}
