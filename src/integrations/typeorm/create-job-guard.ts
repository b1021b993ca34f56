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
  /** Provides the locks instead of the lock table. You close it yourself. Runs are still kept in the database. */
  readonly lockProvider?: JobGuardOptions['lockProvider'] | undefined;
  /** Sends nothing to the database at startup. While the database is down, every tick emits `lock:failed` and no job runs. */
  readonly lazy?: boolean | undefined;
}

/**
 * Creates a guard whose locks and runs are in the database of a TypeORM DataSource. The DataSource does not need to be
 * initialized, and the guard never initializes or closes it. The guard opens two connections of its own, and up to four
 * more while statements wait for locked rows. Closing the guard closes them.
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
