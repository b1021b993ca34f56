import type { JobGuard } from '../../guard';
import { mysqlDriver } from '../../storage/mysql2/mysql-driver';
import { mysqlApplication, type MysqlSource } from '../../storage/mysql2/mysql-source';
import type { SchemaFinding } from '../../storage/sql/schema/schema-finding';
import { createGuard, type CreateJobGuardOptions } from '../sql/create-guard';
import { createMissingTables, findProblems, type TablesOptions } from '../sql/tables';
import { serverTransactions } from '../sql/transaction';
import { SUBPATH } from './transactions';

export interface MysqlGuardOptions extends CreateJobGuardOptions {
  /** With an address or options: how many connections `inRunTransaction` opens at most, beside the guard's. Default 5. */
  readonly transactionConnections?: number | undefined;
}

/**
 * Creates a guard whose locks and runs are in a database of MySQL or MariaDB. By default, the guard opens two connections
 * of its own, and up to four more while statements wait for locked rows. Closing the guard closes them. It never closes
 * your pool.
 *
 * It checks the lock table at startup. It checks the ledger's tables too if a once-per job is decorated by then;
 * otherwise it does so when the first one runs. Tables that work within a limit cause `guard:warning` events.
 *
 * @param source an address, options of mysql2, or a pool. The guard connects with the settings of the pool;
 * `connections: 'shared'` uses the pool itself.
 * @throws SchemaMismatchError if a table cannot be used. The message lists every problem with its fix.
 * @throws LockStorageError if the database cannot be reached. The message contains its address, without credentials.
 * @throws InvalidLockConfigurationError for an unusable source or an invalid option
 */
export async function createJobGuard(
  source: MysqlSource,
  { transactionConnections, ...options }: MysqlGuardOptions = {},
): Promise<JobGuard> {
  const application = mysqlApplication(source, { transactionConnections });
  const transactions = serverTransactions(SUBPATH, mysqlDriver, application);
  return await createGuard(transactions, options, application.close);
}

/**
 * Creates the tables that are missing. Call it when you deploy: it needs the right to create tables.
 *
 * @throws SchemaMismatchError if a table exists that cannot be used. Nothing was changed.
 * @throws LockStorageError if the database cannot be reached, or refuses the statement
 */
export async function createTables(source: MysqlSource, options: TablesOptions = {}): Promise<void> {
  await createMissingTables(mysqlApplication(source).database, options);
}

/**
 * Checks the tables and returns their problems, each with its fix. Tables that `createTables` created have none.
 *
 * @throws LockStorageError if the database cannot be reached
 */
export async function verifySchema(
  source: MysqlSource,
  options: TablesOptions = {},
): Promise<readonly SchemaFinding[]> {
  return await findProblems(mysqlApplication(source).database, options);
}
