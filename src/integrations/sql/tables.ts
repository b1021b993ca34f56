import { SchemaMismatchError } from '../../core';
import { translateDriverError } from '../../storage/sql/connections/storage-error';
import { DatabaseAccess, type DatabaseAccessOptions } from '../../storage/sql/database/database-access';
import { lockTableIn, runTablesIn, type SqlDatabase } from '../../storage/sql/database/sql-database';
import { SqlLockProvider, type SqlLockProviderOptions } from '../../storage/sql/database/sql-lock-provider';
import { SqlRunStore } from '../../storage/sql/ledger/sql-run-store';
import { createTable } from '../../storage/sql/schema/create-table';
import { lockTableDefinition } from '../../storage/sql/schema/lock-table';
import { runTableDefinitions, type RunTableOptions } from '../../storage/sql/schema/run-tables';
import type { SchemaFinding } from '../../storage/sql/schema/schema-finding';
import type { TableDefinition } from '../../storage/sql/schema/table-definition';

export interface TablesOptions
  extends
    Pick<SqlLockProviderOptions, 'lockTable' | 'columns' | 'schema' | 'nameLength'>,
    Pick<RunTableOptions, 'runTable'>,
    Pick<DatabaseAccessOptions, 'connections' | 'statementTimeout'> {
  /** Which tables. Default: those of the locks and of the ledger. */
  readonly tables?: readonly ('lock' | 'ledger')[] | undefined;
}

/** The problems of the tables, each with its fix. */
export async function findProblems(
  database: SqlDatabase,
  options: TablesOptions,
): Promise<readonly SchemaFinding[]> {
  return await withAccess(database, options, (access) => problemsOf(database, options, access));
}

/**
 * Creates the tables that are missing.
 *
 * @throws SchemaMismatchError if a table exists that cannot be used. Nothing was changed.
 */
export async function createMissingTables(database: SqlDatabase, options: TablesOptions): Promise<void> {
  await withAccess(database, options, async (access) => {
    refuseOthers(await problemsOf(database, options, access));
    try {
      await create(database, options, access);
    } catch (error) {
      // Another instance may have created them at the same time.
      if ((await problemsOf(database, options, access)).some(({ severity }) => severity === 'error'))
        throw error;
    }
  });
}

/** The definitions of the tables, in the order in which they must be created. */
export function tableDefinitions(
  database: SqlDatabase,
  { tables = ['lock', 'ledger'], ...named }: TablesOptions,
): readonly TableDefinition[] {
  return [
    ...(tables.includes('lock') ? [lockTableDefinition(lockTableIn(database, named))] : []),
    ...(tables.includes('ledger') ? runTableDefinitions(runTablesIn(database, named)) : []),
  ];
}

async function withAccess<T>(
  database: SqlDatabase,
  { connections, statementTimeout }: TablesOptions,
  use: (access: DatabaseAccess) => Promise<T>,
): Promise<T> {
  const access = new DatabaseAccess(database, { connections, statementTimeout, onWarning: () => {} });
  try {
    return await use(access);
  } finally {
    await access.close();
  }
}

async function problemsOf(
  database: SqlDatabase,
  { tables = ['lock', 'ledger'], ...named }: TablesOptions,
  access: DatabaseAccess,
): Promise<readonly SchemaFinding[]> {
  return [
    ...(tables.includes('lock') ? await new SqlLockProvider(database, named, access).verifySchema() : []),
    ...(tables.includes('ledger') ? await new SqlRunStore(access.forRuns(named)).verifySchema() : []),
  ];
}

async function create(database: SqlDatabase, options: TablesOptions, access: DatabaseAccess): Promise<void> {
  const { executor, dialect } = access.forTables;
  for (const definition of tableDefinitions(database, options)) {
    try {
      for (const text of createTable(definition, dialect))
        await executor.execute(
          { id: '', text, values: [] },
          { timeoutMs: access.statementTimeoutMs, urgent: false },
        );
    } catch (error) {
      const tableName = definition.path.join('.');
      const { migration } = definition;
      throw translateDriverError(error, { ...access.forTables, tableName, migration, subject: undefined });
    }
  }
}

function refuseOthers(findings: readonly SchemaFinding[]): void {
  const errors = findings.filter(({ severity, code }) => severity === 'error' && code !== 'missing-table');
  if (errors.length === 0) return;
  const messages = errors.map(({ message }) => message).join('\n');
  throw new SchemaMismatchError(messages, { outcome: 'nothing-ran' });
}
