import type { MigrationInterface, QueryRunner } from 'typeorm';
import { checkOptionNames, refuseOption } from '../../core/options';
import { quotePath } from '../sql/dialects/sql-dialect';
import type { SqlRow } from '../sql/connections/statement';
import { createTable } from '../sql/schema/create-table';
import { absentIndexes, inspectionOf, readTable } from '../sql/schema/inspected-table';
import {
  isTableSet,
  tableOf,
  tablesOf,
  type JobTableOptions,
  type LockTableOptions,
  type RowLockTableOptions,
  type RunTableOptions,
  type TableSet,
} from '../sql/schema/tables';
import type { TableDefinition } from '../sql/schema/table-definition';
import { databaseOf, dataSourceOf } from './database';

export interface MigrationOptions
  extends LockTableOptions, RunTableOptions, JobTableOptions, RowLockTableOptions {
  /** Which tables to create. Each set is a separate migration. */
  readonly tables: readonly [TableSet];
}

const OPTIONS = [
  'tables',
  'lockTable',
  'runTable',
  'jobTable',
  'rowLockTable',
  'schema',
  'columns',
  'nameLength',
];

const MIGRATIONS: Readonly<
  Record<
    TableSet,
    {
      readonly name: string;
      /** The table after which a migration is named if it is not the default one. */
      readonly of: 'lock' | 'rowLock' | 'run' | 'job' | 'request';
      /** TypeORM orders migrations by the timestamp at the end of the name, and identifies them by the whole name. */
      readonly timestamp: number;
      /** Further statements, for tables that an older version created. */
      readonly more?: (runner: QueryRunner, options: MigrationOptions) => Promise<readonly string[]>;
    }
  >
> = {
  lock: { name: 'CronlatchLockTable', of: 'lock', timestamp: 1763596800000 },
  ledger: { name: 'CronlatchLedgerTables', of: 'run', timestamp: 1763596800001 },
  jobs: { name: 'CronlatchJobTable', of: 'job', timestamp: 1763596800003, more: missingRunIndexes },
  operations: { name: 'CronlatchOperationTables', of: 'request', timestamp: 1763596800004 },
  'row-lock': { name: 'CronlatchRowLockTable', of: 'rowLock', timestamp: 1763596800002 },
};

/**
 * Creates a migration for the tables. Add the returned class to the `migrations` of the DataSource. The migration leaves
 * existing tables unchanged, so it can run twice. Still, run migrations once before the instances start: TypeORM does not
 * lock, and two runs at once can collide on its own table `migrations`.
 *
 * @throws InvalidLockConfigurationError for an invalid set of tables or an invalid identifier
 */
export function createCronlatchMigration(options: MigrationOptions): new () => MigrationInterface {
  checkOptionNames(options, OPTIONS, 'createCronlatchMigration');
  const set = tableSetOf(options.tables);
  const { name, of, timestamp, more } = MIGRATIONS[set];
  const migrationName = `${name}${named(tableOf(of, options), tableOf(of))}${timestamp}`;
  return class implements MigrationInterface {
    readonly name = migrationName;

    async up(runner: QueryRunner): Promise<void> {
      const database = databaseOf(dataSourceOf(runner));
      const tables = tablesOf([set], options, database);
      const statements = tables.flatMap((table) => createTable(table, database.dialect));
      for (const statement of statements) await runner.query(statement);
      for (const statement of (await more?.(runner, options)) ?? []) await runner.query(statement);
    }

    async down(runner: QueryRunner): Promise<void> {
      const database = databaseOf(dataSourceOf(runner));
      for (const { path } of [...tablesOf([set], options, database)].reverse())
        await runner.query(`DROP TABLE IF EXISTS ${quotePath(path, database.dialect)}`);
    }
  };
}

/** The indexes that the ledger's table of an older version lacks. None if there is no such table. */
async function missingRunIndexes(runner: QueryRunner, options: MigrationOptions): Promise<readonly string[]> {
  const database = databaseOf(dataSourceOf(runner));
  const { dialect } = database;
  const { path, indexes } = tableOf('run', options, database);
  const { text, values } = inspectionOf([{ path, database: database.name }], dialect);
  const rows: unknown = await runner.query(text, [...values]);
  const { indexes: present } = readTable(rows as readonly SqlRow[], 0, dialect.inspection);
  if (present.length === 0) return [];
  return absentIndexes(indexes, present).map((index) => dialect.columnTypes.createIndex(path, index));
}

function tableSetOf(tables: readonly string[]): TableSet {
  const [set] = tables;
  if (tables.length === 1 && isTableSet(set)) return set;
  refuseOption(
    'tables',
    tables,
    `use ['lock'], ['ledger'], ['jobs'], ['operations'] or ['row-lock']. If you need more than one, create a migration for each`,
  );
}

function named({ path }: TableDefinition, byDefault: TableDefinition): string {
  // With underscores alone, a_b.c and a.b_c would have the same name.
  const table = path.join(path.length > 1 && path.some((part) => part.includes('_')) ? '.' : '_');
  return table === byDefault.path.join() ? '' : `_${table}_`;
}
