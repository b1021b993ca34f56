import { LockStorageError, SchemaMismatchError } from '../../core';
import { refuseOption } from '../../core/options';
import { checkTableOptions } from '../../guard/jobs/check-options';
import { DuplicateRecord } from '../../storage/sql/statements/sql-failure';
import { DatabaseAccess, type DatabaseAccessOptions } from '../../storage/sql/database/database-access';
import type { SqlDatabase } from '../../storage/sql/connections/sql-database';
import type { SqlLockProviderOptions } from '../../storage/sql/database/sql-lock-provider';
import { withGrant } from '../../storage/sql/doctor/tables';
import { createTable } from '../../storage/sql/tables/create-table';
import type { SchemaFinding } from '../../storage/sql/schema/schema-finding';
import type { TableDefinition } from '../../storage/sql/schema/table-definition';
import type {
  JobTableOptions,
  RowLockTableOptions,
  RunTableOptions,
} from '../../storage/sql/schema/table-options';
import { DEFAULT_SETS, isTableSet, tablesOf, type TableSet } from '../../storage/sql/schema/tables';
import { VerifiedTables } from '../../storage/sql/tables/verified-tables';
import { askAbout, checkPassword, type CreateJobGuardOptions } from './create-guard';

export interface TablesOptions
  extends
    Pick<SqlLockProviderOptions, 'lockTable' | 'columns' | 'schema' | 'nameLength'>,
    Pick<RunTableOptions, 'runTable'>,
    Pick<JobTableOptions, 'jobTable'>,
    Pick<RowLockTableOptions, 'rowLockTable'>,
    Pick<DatabaseAccessOptions, 'connections' | 'statementTimeout'>,
    Pick<CreateJobGuardOptions, 'password'> {
  /**
   * Which tables. Default: those of the locks, of the ledger, of the register of jobs, and of `operations`: requests,
   * notices and logs of runs. `row-lock`: the table of a `RowLockProvider`.
   */
  readonly tables?: readonly TableSet[] | undefined;
}

/** The codes for a table, a type and a column that exist. */
const ALREADY_THERE = new Set(['42P07', '42710', '42701', 'ER_DUP_FIELDNAME']);

export interface TableState {
  readonly definition: TableDefinition;
  readonly findings: readonly SchemaFinding[];
}

export async function inspectTables(
  database: SqlDatabase,
  options: TablesOptions,
): Promise<readonly TableState[]> {
  return await withStates(database, options, (states) => states);
}

/**
 * Creates the tables that are missing, and the columns and indexes that an older version did not create.
 *
 * @throws SchemaMismatchError if a table exists that cannot be used. Nothing was changed.
 */
export async function createMissingTables(database: SqlDatabase, options: TablesOptions): Promise<void> {
  await withStates(database, options, async (states, access) => {
    const { dialect } = access.forTables;
    const obstacles = states
      .flatMap(({ findings }) => findings)
      .filter((each) => each.severity === 'error' && each.code !== 'missing-table' && !isAddition(each));
    if (obstacles.length > 0) {
      const messages = obstacles.map(({ message }) => message).join('\n');
      throw new SchemaMismatchError(messages, { outcome: 'nothing-ran' });
    }
    for (const { definition, findings } of states) {
      const additions = findings.filter(isAddition).flatMap(({ remedy }) => remedy ?? []);
      const texts = [...createTable(definition, dialect), ...additions];
      // PostgreSQL commits them together. So another caller never finds a table without its indexes.
      for (const text of dialect.name === 'postgres' ? [texts.join(';\n')] : texts)
        await send(text, definition, access);
    }
  });
}

/**
 * The definitions of the tables, in the order in which they must be created.
 *
 * @throws InvalidLockConfigurationError naming the option
 */
export function tableDefinitions(
  database: Pick<SqlDatabase, 'schema'>,
  { tables = DEFAULT_SETS, ...named }: TablesOptions,
): readonly TableDefinition[] {
  checkTableOptions(named);
  // A misspelt set would create no table, and report nothing.
  if (!Array.isArray(tables) || tables.length === 0 || !tables.every(isTableSet))
    refuseOption('tables', tables, `use a list of 'lock', 'ledger', 'jobs', 'operations' and 'row-lock'`);
  return tablesOf(tables, named, database);
}

async function withStates<T>(
  database: SqlDatabase,
  options: TablesOptions,
  use: (states: readonly TableState[], access: DatabaseAccess) => T | Promise<T>,
): Promise<T> {
  checkPassword(database, options);
  const { connections, statementTimeout } = options;
  const access = new DatabaseAccess(database, { connections, statementTimeout, onWarning: () => {} });
  const states: TableState[] = [];
  try {
    for (const definition of tableDefinitions(database, options)) {
      const table = new VerifiedTables(access.forTables, [definition], () => undefined);
      const findings = await table.verify({ timeoutMs: access.statementTimeoutMs });
      states.push({ definition, findings });
    }
    return await use(states, access);
  } finally {
    await access.close();
  }
}

async function send(text: string, definition: TableDefinition, access: DatabaseAccess): Promise<void> {
  const ask = askAbout(definition, access);
  try {
    await ask(text);
  } catch (error) {
    // Another instance has created it since PostgreSQL found it missing. Now it is there.
    const isThere = error instanceof LockStorageError && ALREADY_THERE.has(error.driverCode ?? '');
    const isCreation = text.startsWith('CREATE TABLE');
    if (isThere && text.startsWith('ALTER TABLE')) return;
    if (!(error instanceof DuplicateRecord || isThere))
      throw isCreation ? await withGrant(error, definition, access.forTables.dialect, ask) : error;
    await ask(text);
  }
}

/** What an older version did not create, with the statement that adds it. */
export function isAddition({ code, remedy }: SchemaFinding): boolean {
  return (code === 'missing-column' || code === 'missing-index') && remedy !== undefined;
}
