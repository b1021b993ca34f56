import { verifySchema, type SchemaFinding } from 'cronlatch/typeorm';
import { DatabaseAccess, type DatabaseAccessOptions } from '#cronlatch/storage/sql/database/database-access';
import { SqlRunStore } from '#cronlatch/storage/sql/ledger/sql-run-store';
import type { JobTableOptions, RunTableOptions } from '#cronlatch/storage/sql/schema/table-options';
import { typeormDriver, type TypeOrmSource } from '#cronlatch/storage/typeorm/typeorm-driver';

export interface TypeOrmRunStoreOptions extends RunTableOptions, JobTableOptions, DatabaseAccessOptions {}

/** The runs in the database of a DataSource, as a guard keeps them, on connections of its own. */
export class TypeOrmRunStore extends SqlRunStore {
  readonly #access: DatabaseAccess;

  constructor(
    private readonly source: TypeOrmSource,
    private readonly named: TypeOrmRunStoreOptions = {},
  ) {
    const access = new DatabaseAccess(typeormDriver.read(source), named);
    super(access.forRuns(named));
    this.#access = access;
  }

  /** What `verifySchema` finds about the tables of runs. */
  async verifySchema(): Promise<readonly SchemaFinding[]> {
    const { runTable, schema, nameLength } = this.named;
    return await verifySchema(this.source, { tables: ['ledger'], runTable, schema, nameLength });
  }

  async close(): Promise<void> {
    await this.#access.close();
  }
}
