import type { JobGuard } from '../../guard';
import { sqliteApplication, type SqliteSource } from '../../storage/better-sqlite3/sqlite-source';
import type { SchemaFinding } from '../../storage/sql/schema/schema-finding';
import { createGuard, type CreateJobGuardOptions } from '../sql/create-guard';
import { createMissingTables, findProblems, type TablesOptions } from '../sql/tables';
import { SUBPATH } from './transactions';

/**
 * Creates a guard whose locks and runs are in a SQLite file. It opens a connection of its own, which it closes with the
 * guard. A database in memory exists only in your connection, so the guard uses that.
 *
 * It checks the lock table at startup. It checks the ledger's tables too if a once-per job is decorated by then;
 * otherwise it does so when the first one runs. Tables that work within a limit cause `guard:warning` events.
 *
 * @param source an open database, or an address such as `sqlite:jobs.db`. The file must exist.
 * @throws SchemaMismatchError if a table cannot be used. The message lists every problem with its fix.
 * @throws LockStorageError if the file cannot be opened
 * @throws InvalidLockConfigurationError for an unusable source or an invalid option
 */
export async function createJobGuard(
  source: SqliteSource,
  options: CreateJobGuardOptions = {},
): Promise<JobGuard> {
  const { database, handle, close } = sqliteApplication(source, { creates: false });
  return await createGuard({ subpath: SUBPATH, database, open: handle }, options, close);
}

/**
 * Creates the tables that are missing, and also the file if the source is an address.
 *
 * @throws SchemaMismatchError if a table exists that cannot be used. Nothing was changed.
 * @throws LockStorageError if the file cannot be opened or written
 */
export async function createTables(source: SqliteSource, options: TablesOptions = {}): Promise<void> {
  await createMissingTables(sqliteApplication(source, { creates: true }).database, options);
}

/**
 * Checks the tables and returns their problems, each with its fix. Tables that `createTables` created have none.
 *
 * @throws LockStorageError if the file cannot be opened
 */
export async function verifySchema(
  source: SqliteSource,
  options: TablesOptions = {},
): Promise<readonly SchemaFinding[]> {
  return await findProblems(sqliteApplication(source, { creates: false }).database, options);
}
