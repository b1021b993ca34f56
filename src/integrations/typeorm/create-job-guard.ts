import type { DataSource } from 'typeorm';
import { EventHub } from '../../core';
import { JobGuard, type JobGuardOptions } from '../../guard';
import { declaredConfigurations } from '../../guard/guarded-method';
import { TypeOrmLockProvider, TypeOrmRunStore } from '../../storage/typeorm';
import type { TypeOrmLockProviderOptions, TypeOrmRunStoreOptions } from '../../storage/typeorm';
import { DatabaseAccess } from '../../storage/typeorm/database-access';
import { rememberDataSource } from './ledger-databases';

export interface CreateJobGuardOptions
  extends
    Omit<JobGuardOptions, 'lockProvider' | 'events'>,
    Omit<TypeOrmLockProviderOptions, 'onWarning'>,
    Pick<TypeOrmRunStoreOptions, 'runTable'> {
  /** Instead of the lock table: locks from elsewhere. The caller closes it. Runs are kept in the database all the same. */
  readonly lockProvider?: JobGuardOptions['lockProvider'] | undefined;
  /** Asks nothing of the database at the start. Until it can be reached, every tick is a `lock:failed` event and no job runs. */
  readonly lazy?: boolean | undefined;
}

/**
 * A guard whose locks and runs are in the database of a TypeORM DataSource, initialized or not; it is never initialized
 * or closed here. The guard opens two connections of its own, and up to four more while statements wait for locked rows.
 * It closes them when it is closed. The tables of the ledger are looked at when a once-per job has been decorated before, else when the first one runs.
 *
 * @throws SchemaMismatchError when a table or a column is missing; it names the migration
 * @throws LockStorageError when the database cannot be reached; it names the address
 * @throws InvalidLockConfigurationError for a kind of database that is not supported, or an option that cannot be meant
 */
export async function createJobGuard(
  dataSource: DataSource,
  options: CreateJobGuardOptions = {},
): Promise<JobGuard> {
  const events = new EventHub();
  const onWarning = (message: string): void => events.emit('guard:warning', { message });
  const access = new DatabaseAccess(dataSource, { ...options, onWarning });
  const locks = options.lockProvider ?? new TypeOrmLockProvider(dataSource, options, access);
  const runStore = options.runStore ?? new TypeOrmRunStore(dataSource, options, access);
  rememberDataSource(runStore, dataSource);
  const guard = new JobGuard({ ...options, lockProvider: locks, runStore, events });
  const ownLocks =
    locks instanceof TypeOrmLockProvider && options.lockProvider === undefined ? locks : undefined;
  guard.onClose({
    async close() {
      await ownLocks?.close();
      await access.close();
    },
  });
  if (options.lazy) return guard;
  try {
    await ownLocks?.check();
    const hasOncePerJobs = [...declaredConfigurations()].some(({ oncePer }) => oncePer !== undefined);
    if (hasOncePerJobs) await runStore.check?.();
    return guard;
  } catch (error) {
    await guard.close();
    throw error;
  }
}
