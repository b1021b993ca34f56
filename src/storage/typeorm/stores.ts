import type { DataSource } from 'typeorm';
import { checkOptionNames } from '../../core/options';
import { DatabaseAccess, type DatabaseAccessOptions } from '../sql/database/database-access';
import { SqlLockProvider, type SqlLockProviderOptions } from '../sql/database/sql-lock-provider';
import { SqlRunStore } from '../sql/ledger/sql-run-store';
import type { JobTableOptions, RunTableOptions } from '../sql/schema/tables';
import { databaseOf } from './database';

/** Of both stores, so that they can share an object. */
const OPTIONS = [
  ...['lockTable', 'runTable', 'jobTable', 'schema', 'columns', 'nameLength', 'connections', 'grouping'],
  ...['statementTimeout', 'keepRows', 'onWarning', 'clock', 'random'],
];

export type TypeOrmLockProviderOptions = SqlLockProviderOptions;

/**
 * Keeps locks in a table of the database of a TypeORM DataSource. The DataSource does not need to be initialized, and the
 * provider never initializes or closes it.
 */
export class TypeOrmLockProvider extends SqlLockProvider {
  /** @throws InvalidLockConfigurationError for an unsupported kind of database, or an invalid option or identifier */
  constructor(dataSource: DataSource, options: TypeOrmLockProviderOptions = {}) {
    checkOptionNames(options, OPTIONS, 'TypeOrmLockProvider');
    super(databaseOf(dataSource), options);
  }
}

export interface TypeOrmRunStoreOptions extends RunTableOptions, JobTableOptions, DatabaseAccessOptions {}

/**
 * Keeps the runs of the ledger in two tables of the database of a TypeORM DataSource. The DataSource does not need to be
 * initialized, and the store never initializes or closes it.
 */
export class TypeOrmRunStore extends SqlRunStore {
  readonly #access: DatabaseAccess;

  /** @throws InvalidLockConfigurationError for an unsupported kind of database, or an invalid option or identifier */
  constructor(dataSource: DataSource, options: TypeOrmRunStoreOptions = {}) {
    checkOptionNames(options, OPTIONS, 'TypeOrmRunStore');
    const access = new DatabaseAccess(databaseOf(dataSource), options);
    super(access.forRuns(options));
    this.#access = access;
  }

  async close(): Promise<void> {
    await this.#access.close();
  }
}
