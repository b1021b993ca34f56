import type { DataSource } from 'typeorm';
import type { JobGuard } from '../../guard';
import { databaseOf } from '../../storage/typeorm/database';
import { createGuard, type CreateJobGuardOptions } from '../sql/create-guard';
import { openRunTransaction, SUBPATH } from './run-transaction';

/**
 * Creates a guard whose locks and runs are in the database of a TypeORM DataSource. The DataSource does not need to be
 * initialized, and the guard never initializes or closes it. By default, the guard opens two connections of its own,
 * and up to four more while statements wait for locked rows. Closing the guard closes them.
 *
 * It checks the lock table at startup. It checks the ledger's tables too if a once-per job is decorated by then;
 * otherwise it does so when the first one runs. Tables that work within a limit cause `guard:warning` events.
 *
 * @throws SchemaMismatchError if a table cannot be used. The message lists every problem with its fix.
 * @throws LockStorageError if the database cannot be reached. The message contains its address.
 * @throws InvalidLockConfigurationError for an unsupported kind of database or an invalid option
 */
export async function createJobGuard(
  dataSource: DataSource,
  options: CreateJobGuardOptions = {},
): Promise<JobGuard> {
  const database = databaseOf(dataSource);
  return await createGuard({ subpath: SUBPATH, database, open: openRunTransaction(dataSource) }, options);
}
