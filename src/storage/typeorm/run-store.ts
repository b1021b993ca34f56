import { checkOptionNames } from '../../core/options';
import { DatabaseAccess, type DatabaseAccessOptions } from '../sql/database/database-access';
import { STORE_OPTIONS } from '../sql/database/sql-lock-provider';
import { SqlRunStore } from '../sql/ledger/sql-run-store';
import type { JobTableOptions, RunTableOptions } from '../sql/schema/tables';
import { typeormDriver, type TypeOrmSource } from './typeorm-driver';

export interface TypeOrmRunStoreOptions extends RunTableOptions, JobTableOptions, DatabaseAccessOptions {}

/**
 * Keeps the runs of the ledger in two tables of the database of a TypeORM DataSource. The DataSource does not need to be
 * initialized, and the store never initializes or closes it.
 */
export class TypeOrmRunStore extends SqlRunStore {
  readonly #access: DatabaseAccess;

  /** @throws InvalidLockConfigurationError for an unsupported kind of database, or an invalid option or identifier */
  constructor(source: TypeOrmSource, options: TypeOrmRunStoreOptions = {}) {
    checkOptionNames(options, STORE_OPTIONS, 'TypeOrmRunStore');
    const access = new DatabaseAccess(typeormDriver.read(source), options);
    super(access.forRuns(options));
    this.#access = access;
  }

  async close(): Promise<void> {
    await this.#access.close();
  }
}
