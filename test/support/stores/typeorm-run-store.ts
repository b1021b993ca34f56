import { DatabaseAccess, type DatabaseAccessOptions } from '#cronlatch/storage/sql/database/database-access';
import { SqlRunStore } from '#cronlatch/storage/sql/ledger/sql-run-store';
import type { JobTableOptions, RunTableOptions } from '#cronlatch/storage/sql/schema/table-options';
import { typeormDriver, type TypeOrmSource } from '#cronlatch/storage/typeorm/typeorm-driver';

export interface TypeOrmRunStoreOptions extends RunTableOptions, JobTableOptions, DatabaseAccessOptions {}

/** The runs in the database of a DataSource, as a guard keeps them, on connections of its own. */
export class TypeOrmRunStore extends SqlRunStore {
  readonly #access: DatabaseAccess;

  constructor(source: TypeOrmSource, options: TypeOrmRunStoreOptions = {}) {
    const access = new DatabaseAccess(typeormDriver.read(source), options);
    super(access.forRuns(options));
    this.#access = access;
  }

  async close(): Promise<void> {
    await this.#access.close();
  }
}
