import type { MigrationInterface, QueryRunner } from 'typeorm';
import { checkOptionNames, refuseOption } from '../../core/options';
import { quotePath } from '../sql/dialects/sql-dialect';
import type { SqlRow } from '../sql/statements/statement';
import { createTable } from '../sql/tables/create-table';
import type {
  JobTableOptions,
  LockTableOptions,
  RowLockTableOptions,
  RunTableOptions,
} from '../sql/schema/table-options';
import { DEFAULT_SETS, isTableSet, tableOf, tablesOf, type TableSet } from '../sql/schema/tables';
import type { TableDefinition } from '../sql/schema/table-definition';
import { databaseOf, dataSourceOf } from './database';

export interface MigrationOptions
  extends LockTableOptions, RunTableOptions, JobTableOptions, RowLockTableOptions {
  /**
   * Default: the tables that `createTables` creates by default, in one migration. Name a set if an older version has
   * created the others, or for `row-lock`. Each set is a separate migration.
   */
  readonly tables?: readonly [TableSet] | undefined;
}

const NAMES = ['lockTable', 'runTable', 'jobTable', 'rowLockTable', 'schema', 'columns'];
const OPTIONS = ['tables', ...NAMES, 'nameLength'];

interface TableMigration {
  readonly name: string;
  /** The tables after which a migration is named if they are not the default ones. */
  readonly of: readonly ('lock' | 'rowLock' | 'run' | 'job' | 'act')[];
  /** TypeORM orders migrations by the timestamp at the end of the name, and identifies them by the whole name. */
  readonly timestamp: number;
}

const MIGRATIONS: Readonly<Record<TableSet | 'default', TableMigration>> = {
  lock: { name: 'CronlatchLockTable', of: ['lock'], timestamp: 1763596800000 },
  ledger: { name: 'CronlatchLedgerTables', of: ['run'], timestamp: 1763596800001 },
  jobs: { name: 'CronlatchJobTable', of: ['job'], timestamp: 1763596800003 },
  operations: { name: 'CronlatchOperationTables', of: ['act'], timestamp: 1763596800004 },
  'row-lock': { name: 'CronlatchRowLockTable', of: ['rowLock'], timestamp: 1763596800002 },
  default: { name: 'CronlatchTables', of: ['lock', 'run', 'job'], timestamp: 1763596800005 },
};

/**
 * Creates a migration for all tables, or for one set. Add the returned class to the `migrations` of the DataSource. The migration leaves
 * existing tables unchanged, so it can run twice. Still, run migrations once before the instances start: TypeORM does not
 * lock, and two runs at once can collide on its own table `migrations`. Undoing it drops no table once one of them holds a row.
 *
 * TypeORM never repeats a migration. If a later version needs a new set of tables, add a migration with `tables` for it.
 *
 * @throws InvalidLockConfigurationError for an invalid set of tables or an invalid identifier
 */
export function createCronlatchMigration(options: MigrationOptions = {}): new () => MigrationInterface {
  checkOptionNames(options, OPTIONS, 'createCronlatchMigration');
  const set = options.tables === undefined ? undefined : tableSetOf(options.tables);
  const sets = set ? [set] : DEFAULT_SETS;
  const { name, of, timestamp } = MIGRATIONS[set ?? 'default'];
  const places = of.map((kind) => named(tableOf(kind, options), tableOf(kind)));
  const migrationName = `${name}${places.join('')}${timestamp}`;
  return class implements MigrationInterface {
    readonly name = migrationName;

    async up(runner: QueryRunner): Promise<void> {
      const database = databaseOf(dataSourceOf(runner));
      const tables = tablesOf(sets, options, database);
      const statements = tables.flatMap((table) => createTable(table, database.dialect));
      for (const statement of statements) await runner.query(statement);
    }

    async down(runner: QueryRunner): Promise<void> {
      const dataSource = dataSourceOf(runner);
      const database = databaseOf(dataSource);
      const drops: string[] = [];
      let used: string | undefined;
      for (const { path, columns } of tablesOf(sets, options, database)) {
        const [name, quoted] = [path.join('.'), quotePath(path, database.dialect)];
        if (!(await runner.hasTable(name))) continue;
        drops.unshift(`DROP TABLE ${quoted}`);
        const [row] = (await runner.query(`SELECT 1 FROM ${quoted} LIMIT 1`)) as readonly SqlRow[];
        // A table of ShedLock for Java lacks the last column.
        if (row !== undefined || !(await runner.hasColumn(name, columns.at(-1)?.name ?? ''))) used = name;
      }
      if (used !== undefined) {
        const why = `Table '${used}' holds rows, or another program created it, so no table was dropped.`;
        dataSource.logger.logMigration(`${why} If nothing needs them: ${drops.join('; ')};`, runner);
        return;
      }
      for (const drop of drops) await runner.query(drop);
    }
  };
}

function tableSetOf(tables: unknown): TableSet {
  const set: unknown = Array.isArray(tables) && tables.length === 1 ? tables[0] : undefined;
  if (isTableSet(set)) return set;
  refuseOption(
    'tables',
    tables,
    `leave it out for all tables, or use ['lock'], ['ledger'], ['jobs'], ['operations'] or ['row-lock']`,
  );
}

function named({ path }: TableDefinition, byDefault: TableDefinition): string {
  // With underscores alone, a_b.c and a.b_c would have the same name.
  const table = path.join(path.length > 1 && path.some((part) => part.includes('_')) ? '.' : '_');
  return table === byDefault.path.join() ? '' : `_${table}_`;
}
