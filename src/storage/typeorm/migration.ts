import type { MigrationInterface, QueryRunner } from 'typeorm';
import { InvalidLockConfigurationError } from '../../core';
import { describeValue } from '../../core/describe-value';
import { DEFAULT_LOCK_TABLE, lockTableOf, type LockTableOptions } from '../sql/lock-table';
import { quoteLockTable, type SqlDialect } from '../sql/sql-dialect';
import { dialectOf } from './database';

export interface MigrationOptions extends Omit<LockTableOptions, 'columns'> {
  /** Which tables to create. */
  readonly tables: readonly 'lock'[];
  readonly columns?: LockTableOptions['columns'];
}

/**
 * A migration that creates the tables: put what it returns into the `migrations` of the DataSource. A table that is
 * there already is left as it is, so that it does no harm when it runs twice. Run migrations once before the instances
 * start all the same: TypeORM takes no lock for them, and two runs at once can collide on its own table `migrations`.
 */
export function createCronlatchMigration(options: MigrationOptions): new () => MigrationInterface {
  if (options.tables.length !== 1 || options.tables[0] !== 'lock') {
    throw new InvalidLockConfigurationError(`tables is ${describeValue(options.tables)}: use ['lock'].`);
  }
  const table = lockTableOf(options);
  const dialectFor = (runner: QueryRunner): SqlDialect => dialectOf(runner.dataSource.options.type);
  // TypeORM orders migrations by the time stamp at the end of the name, and remembers them by the whole name: another
  // table is another migration.
  const path = table.path.join('_');
  const name = `CronlatchLockTable${path === DEFAULT_LOCK_TABLE ? '' : `_${path}_`}1763596800000`;
  return class implements MigrationInterface {
    readonly name = name;

    async up(runner: QueryRunner): Promise<void> {
      const dialect = dialectFor(runner);
      await runner.query(dialect.createLockTable(quoteLockTable(table, dialect)));
    }

    async down(runner: QueryRunner): Promise<void> {
      await runner.query(`DROP TABLE IF EXISTS ${quoteLockTable(table, dialectFor(runner)).table}`);
    }
  };
}
