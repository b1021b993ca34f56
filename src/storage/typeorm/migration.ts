import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';
import { InvalidLockConfigurationError } from '../../core';
import { describeValue } from '../../core/describe-value';
import { quotePath } from '../sql/dialects/sql-dialect';
import { createTable } from '../sql/schema/create-table';
import {
  DEFAULT_LOCK_TABLE,
  lockTableDefinition,
  lockTableOf,
  type LockTableOptions,
} from '../sql/schema/lock-table';
import {
  DEFAULT_RUN_TABLE,
  runTableDefinitions,
  runTablesOf,
  type RunTableOptions,
} from '../sql/schema/run-tables';
import type { TableDefinition } from '../sql/schema/table-definition';
import { lockTableIn, runTablesIn } from '../sql/database/sql-database';
import { dataSourceOf } from './data-source-of';
import { databaseOf, dialectOf } from './database';

export interface MigrationOptions extends LockTableOptions, RunTableOptions {
  /** Which tables to create. Each set is a separate migration. */
  readonly tables: readonly ['lock'] | readonly ['ledger'];
}

interface TableSet {
  /** TypeORM orders migrations by the timestamp at the end of the name, and identifies them by the whole name. */
  readonly name: (options: MigrationOptions) => string;
  readonly tables: (dataSource: DataSource, options: MigrationOptions) => readonly TableDefinition[];
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
};

/**
 * Creates a migration for the tables. Add the returned class to the `migrations` of the DataSource. The migration leaves
 * existing tables unchanged, so it can run twice. Still, run migrations once before the instances start: TypeORM does not
 * lock, and two runs at once can collide on its own table `migrations`.
 *
 * @throws InvalidLockConfigurationError for an invalid set of tables or an invalid identifier
 */
export function createCronlatchMigration(options: MigrationOptions): new () => MigrationInterface {
  const { name, tables } = tableSetOf(options.tables);
  const migrationName = name(options);
  return class implements MigrationInterface {
    readonly name = migrationName;

    async up(runner: QueryRunner): Promise<void> {
      const dataSource = dataSourceOf(runner);
      const dialect = dialectOf(dataSource.options.type);
      const statements = tables(dataSource, options).flatMap((table) => createTable(table, dialect));
      for (const statement of statements) await runner.query(statement);
    }

    async down(runner: QueryRunner): Promise<void> {
      const dataSource = dataSourceOf(runner);
      const dialect = dialectOf(dataSource.options.type);
      for (const { path } of [...tables(dataSource, options)].reverse())
        await runner.query(`DROP TABLE IF EXISTS ${quotePath(path, dialect)}`);
    }
  };
}

function tableSetOf(tables: readonly string[]): TableSet {
  const [set = ''] = tables;
  if (tables.length === 1 && (set === 'lock' || set === 'ledger')) return TABLE_SETS[set];
  throw new InvalidLockConfigurationError(
    `tables is ${describeValue(tables)}: use ['lock'] or ['ledger']. If you need both, create two migrations.`,
  );
}

function named(path: readonly string[], defaultTable: string): string {
  // With underscores alone, a_b.c and a.b_c would have the same name.
  const table = path.join(path.length > 1 && path.some((part) => part.includes('_')) ? '.' : '_');
  return table === defaultTable ? '' : `_${table}_`;
}
