import type { DataSource } from 'typeorm';
import type { RunTableOptions } from '../sql/schema/run-tables';
import { SqlRunStore } from '../sql/ledger/sql-run-store';
import { describeDatabase, runTablesIn, type DatabaseDescription } from './database';
import { DatabaseAccess, type DatabaseAccessOptions } from './database-access';

export interface TypeOrmRunStoreOptions extends RunTableOptions, DatabaseAccessOptions {}

/**
 * Keeps the runs of the ledger in two tables of the database of a TypeORM DataSource. The DataSource does not need to be
 * initialized, and the store never initializes or closes it.
 */
export class TypeOrmRunStore extends SqlRunStore {
  /**
   * Where the runs are kept, for messages and comparisons.
   *
   * @internal
   */
  readonly database: Pick<DatabaseDescription, 'place' | 'address' | 'dialect'>;
  readonly #ownAccess: DatabaseAccess | undefined;

  /**
   * @param shared connections to the same DataSource, which the caller closes. Default: two connections of its own.
   * @throws InvalidLockConfigurationError for an unsupported kind of database, or an invalid option or identifier
   */
  constructor(dataSource: DataSource, options: TypeOrmRunStoreOptions = {}, shared?: DatabaseAccess) {
    const access = shared ?? new DatabaseAccess(dataSource, options);
    const tables = runTablesIn(dataSource, options);
    const { statementTimeoutMs } = access;
    super({ ...access.forTables, id: access.placeOf(tables.run), tables, statementTimeoutMs });
    this.database = describeDatabase(dataSource);
    this.#ownAccess = shared === undefined ? access : undefined;
  }

  async close(): Promise<void> {
    await this.#ownAccess?.close();
  }
}
