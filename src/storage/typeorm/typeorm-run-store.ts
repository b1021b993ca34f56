import type { DataSource } from 'typeorm';
import type { RunTableOptions } from '../sql/schema/run-tables';
import { SqlRunStore } from '../sql/ledger/sql-run-store';
import { describeDatabase, runTablesIn, type DatabaseDescription } from './database';
import { DatabaseAccess, type DatabaseAccessOptions } from './database-access';

export interface TypeOrmRunStoreOptions extends RunTableOptions, DatabaseAccessOptions {}

/**
 * The run ledger's rows in two tables of the database that a TypeORM DataSource leads to. The DataSource may be
 * initialized or not; it is never initialized or closed here.
 */
export class TypeOrmRunStore extends SqlRunStore {
  /**
   * Where the runs are, for people and to compare.
   *
   * @internal
   */
  readonly database: Pick<DatabaseDescription, 'place' | 'address' | 'dialect'>;
  readonly #ownAccess: DatabaseAccess | undefined;

  /**
   * @param shared connections to the same DataSource that somebody else closes, instead of two more
   * @throws InvalidLockConfigurationError for a kind of database that is not supported, or an identifier that cannot be one
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
