import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';
import { InvalidLockConfigurationError } from '../../core';
import { describeValue } from '../../core/describe-value';
import { quotePath } from '../sql/dialects/sql-dialect';
import { NamedStatement } from '../sql/connections/sql-executor';
import { createIndex, createTable } from '../sql/schema/create-table';
import { indexesOf } from '../sql/schema/inspected-table';
import {
  DEFAULT_JOB_TABLE,
  jobTableDefinition,
  jobTableOf,
  type JobTableOptions,
} from '../sql/schema/job-table';
import {
  DEFAULT_LOCK_TABLE,
  DEFAULT_ROW_LOCK_TABLE,
  lockTableDefinition,
  lockTableOf,
  rowLockTableDefinition,
  rowLockTableOf,
  type LockTableOptions,
  type RowLockTableOptions,
} from '../sql/schema/lock-table';
import {
  DEFAULT_RUN_TABLE,
  runTableDefinitions,
  runTablesOf,
  type RunTableOptions,
} from '../sql/schema/run-tables';
import type { TableDefinition } from '../sql/schema/table-definition';
import { absentIndexes } from '../sql/schema/verify-table';
import { jobTableIn, lockTableIn, rowLockTableIn, runTablesIn } from '../sql/database/sql-database';
import { databaseOf, dataSourceOf, dialectOf } from './database';

export interface MigrationOptions
  extends LockTableOptions, RunTableOptions, JobTableOptions, RowLockTableOptions {
  /** Which tables to create. Each set is a separate migration. */
  readonly tables: readonly ['lock'] | readonly ['ledger'] | readonly ['jobs'] | readonly ['row-lock'];
}

interface TableSet {
  /** TypeORM orders migrations by the timestamp at the end of the name, and identifies them by the whole name. */
  readonly name: (options: MigrationOptions) => string;
  readonly tables: (dataSource: DataSource, options: MigrationOptions) => readonly TableDefinition[];
  /** Further statements, for tables that an older version created. */
  readonly more?: (runner: QueryRunner, options: MigrationOptions) => Promise<readonly string[]>;
}

const TABLE_SETS: Readonly<Record<MigrationOptions['tables'][number], TableSet>> = {
  lock: {
    name: (options) =>
      `CronlatchLockTable${named(lockTableOf(options).path, DEFAULT_LOCK_TABLE)}1763596800000`,
    tables: (dataSource, options) => [lockTableDefinition(lockTableIn(databaseOf(dataSource), options))],
  },
  ledger: {
    name: (options) =>
      `CronlatchLedgerTables${named(runTablesOf(options).run, DEFAULT_RUN_TABLE)}1763596800001`,
    tables: (dataSource, options) => runTableDefinitions(runTablesIn(databaseOf(dataSource), options)),
  },
  jobs: {
    name: (options) => `CronlatchJobTable${named(jobTableOf(options).path, DEFAULT_JOB_TABLE)}1763596800003`,
    tables: (dataSource, options) => [jobTableDefinition(jobTableIn(databaseOf(dataSource), options))],
    more: missingRunIndexes,
  },
  'row-lock': {
    name: (options) =>
      `CronlatchRowLockTable${named(rowLockTableOf(options).path, DEFAULT_ROW_LOCK_TABLE)}1763596800002`,
    tables: (dataSource, options) => [
      rowLockTableDefinition(rowLockTableIn(databaseOf(dataSource), options)),
    ],
  },
};

/**
 * Creates a migration for the tables. Add the returned class to the `migrations` of the DataSource. The migration leaves
 * existing tables unchanged, so it can run twice. Still, run migrations once before the instances start: TypeORM does not
 * lock, and two runs at once can collide on its own table `migrations`.
 *
 * @throws InvalidLockConfigurationError for an invalid set of tables or an invalid identifier
 */
export function createCronlatchMigration(options: MigrationOptions): new () => MigrationInterface {
  const { name, tables, more } = tableSetOf(options.tables);
  const migrationName = name(options);
  return class implements MigrationInterface {
    readonly name = migrationName;

    async up(runner: QueryRunner): Promise<void> {
      const dataSource = dataSourceOf(runner);
      const dialect = dialectOf(dataSource.options.type);
      const statements = tables(dataSource, options).flatMap((table) => createTable(table, dialect));
      for (const statement of statements) await runner.query(statement);
      for (const statement of (await more?.(runner, options)) ?? []) await runner.query(statement);
    }

    async down(runner: QueryRunner): Promise<void> {
      const dataSource = dataSourceOf(runner);
      const dialect = dialectOf(dataSource.options.type);
      for (const { path } of [...tables(dataSource, options)].reverse())
        await runner.query(`DROP TABLE IF EXISTS ${quotePath(path, dialect)}`);
    }
  };
}

/** The indexes that the ledger's table of an older version lacks. None if there is no such table. */
async function missingRunIndexes(runner: QueryRunner, options: MigrationOptions): Promise<readonly string[]> {
  const dataSource = dataSourceOf(runner);
  const dialect = dialectOf(dataSource.options.type);
  const database = databaseOf(dataSource);
  const [{ path, indexes }] = runTableDefinitions(runTablesIn(database, options));
  const { text, parameters } = dialect.inspection.indexes({ path, database: database.name });
  const { text: query, values } = new NamedStatement(text, dialect.placeholder).bind(parameters);
  const rows: unknown = await runner.query(query, [...values]);
  const present = indexesOf(rows as Parameters<typeof indexesOf>[0]);
  if (present.length === 0) return [];
  return absentIndexes(indexes, present).map((index) => createIndex(path, index, dialect));
}

function tableSetOf(tables: readonly string[]): TableSet {
  const [set = ''] = tables;
  if (tables.length === 1 && isTableSet(set)) return TABLE_SETS[set];
  throw new InvalidLockConfigurationError(
    `tables is ${describeValue(tables)}: use ['lock'], ['ledger'], ['jobs'] or ['row-lock']. If you need more than one, create a migration for each.`,
  );
}

function isTableSet(set: string): set is keyof typeof TABLE_SETS {
  return Object.hasOwn(TABLE_SETS, set);
}

function named(path: readonly string[], defaultTable: string): string {
  // With underscores alone, a_b.c and a.b_c would have the same name.
  const table = path.join(path.length > 1 && path.some((part) => part.includes('_')) ? '.' : '_');
  return table === defaultTable ? '' : `_${table}_`;
}
