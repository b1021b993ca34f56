import type { MigrationInterface, QueryRunner } from 'typeorm';
import { InvalidLockConfigurationError } from '../../core';
import { describeValue } from '../../core/describe-value';
import { createLockTable } from '../sql/schema/create-lock-table';
import { createRunTables } from '../sql/schema/create-run-tables';
import { DEFAULT_LOCK_TABLE, lockTableOf, type LockTableOptions } from '../sql/schema/lock-table';
import { DEFAULT_RUN_TABLE, runTablesOf, type RunTableOptions } from '../sql/schema/run-table';
import { quoteLockTable, quoteRunTables, type SqlDialect } from '../sql/sql-dialect';
import { dialectOf, lockTableIn, runTablesIn } from './database';

export interface MigrationOptions extends LockTableOptions, RunTableOptions {
  /** Which tables to create: each set is a migration of its own. */
  readonly tables: readonly ['lock'] | readonly ['ledger'];
}

interface TableSet {
  /** TypeORM orders migrations by the time stamp at the end of the name, and remembers them by the whole name: another table is another migration. */
  readonly name: (options: MigrationOptions) => string;
  readonly create: (runner: QueryRunner, options: MigrationOptions, dialect: SqlDialect) => readonly string[];
  readonly drop: (runner: QueryRunner, options: MigrationOptions, dialect: SqlDialect) => readonly string[];
}

const TABLE_SETS: Readonly<Record<MigrationOptions['tables'][number], TableSet>> = {
  lock: {
    name: (options) =>
      `CronlatchLockTable${named(lockTableOf(options).path, DEFAULT_LOCK_TABLE)}1763596800000`,
    create: ({ dataSource }, options, dialect) => [
      createLockTable(lockTableIn(dataSource, options), dialect),
    ],
    drop: ({ dataSource }, options, dialect) => [
      `DROP TABLE IF EXISTS ${quoteLockTable(lockTableIn(dataSource, options), dialect).table}`,
    ],
  },
  ledger: {
    name: (options) =>
      `CronlatchLedgerTables${named(runTablesOf(options).run, DEFAULT_RUN_TABLE)}1763596800001`,
    create: ({ dataSource }, options, dialect) => createRunTables(runTablesIn(dataSource, options), dialect),
    drop: ({ dataSource }, options, dialect) => {
      const { run, event } = quoteRunTables(runTablesIn(dataSource, options), dialect);
      return [`DROP TABLE IF EXISTS ${event}`, `DROP TABLE IF EXISTS ${run}`];
    },
  },
};

/**
 * A migration that creates the tables: put what it returns into the `migrations` of the DataSource. A table that is
 * there already is left as it is, so that it does no harm when it runs twice. Run migrations once before the instances
 * start all the same: TypeORM takes no lock for them, and two runs at once can collide on its own table `migrations`.
 */
export function createCronlatchMigration(options: MigrationOptions): new () => MigrationInterface {
  const { name, create, drop } = tableSetOf(options.tables);
  const migrationName = name(options);
  const run = async (statements: TableSet['create'], runner: QueryRunner): Promise<void> => {
    const dialect = dialectOf(runner.dataSource.options.type);
    for (const statement of statements(runner, options, dialect)) await runner.query(statement);
  };
  return class implements MigrationInterface {
    readonly name = migrationName;

    up(runner: QueryRunner): Promise<void> {
      return run(create, runner);
    }

    down(runner: QueryRunner): Promise<void> {
      return run(drop, runner);
    }
  };
}

function tableSetOf(tables: readonly string[]): TableSet {
  const [set = ''] = tables;
  if (tables.length === 1 && (set === 'lock' || set === 'ledger')) return TABLE_SETS[set];
  throw new InvalidLockConfigurationError(
    `tables is ${describeValue(tables)}: use ['lock'] or ['ledger'], and two migrations for both.`,
  );
}

function named(path: readonly string[], defaultTable: string): string {
  // With further underscores, another schema and table would have the same name.
  const table = path.join(path.length > 1 && path.some((part) => part.includes('_')) ? '.' : '_');
  return table === defaultTable ? '' : `_${table}_`;
}
