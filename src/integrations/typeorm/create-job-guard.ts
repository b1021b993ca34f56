import type { DataSource } from 'typeorm';
import { EventHub } from '../../core';
import { JobGuard, type JobGuardOptions } from '../../guard';
import { TypeOrmLockProvider, type TypeOrmLockProviderOptions } from '../../storage/typeorm';

export interface CreateJobGuardOptions
  extends Omit<JobGuardOptions, 'lockProvider' | 'events'>, Omit<TypeOrmLockProviderOptions, 'onWarning'> {
  /** Instead of the table: locks from elsewhere. The caller closes it. */
  readonly lockProvider?: JobGuardOptions['lockProvider'] | undefined;
  /** Asks nothing of the database at the start. Until it can be reached, every tick is a `lock:failed` event and no job runs. */
  readonly lazy?: boolean | undefined;
}

/**
 * A guard whose locks are in the database of a TypeORM DataSource, initialized or not; it is never initialized or
 * closed here. The guard opens two connections of its own, and closes them when it is closed.
 *
 * @throws SchemaMismatchError when the lock table or a column is missing; it names the migration
 * @throws LockStorageError when the database cannot be reached; it names the address
 * @throws InvalidLockConfigurationError for a kind of database that is not supported, or an option that cannot be meant
 */
export async function createJobGuard(
  dataSource: DataSource,
  options: CreateJobGuardOptions = {},
): Promise<JobGuard> {
  const events = new EventHub();
  if (options.lockProvider !== undefined)
    return new JobGuard({ ...options, lockProvider: options.lockProvider, events });
  const onWarning = (message: string): void => events.emit('guard:warning', { message });
  const lockProvider = new TypeOrmLockProvider(dataSource, { ...options, onWarning });
  const guard = new JobGuard({ ...options, lockProvider, events });
  guard.onClose({ close: () => lockProvider.close() });
  if (options.lazy) return guard;
  try {
    await lockProvider.check();
    return guard;
  } catch (error) {
    await guard.close();
    throw error;
  }
}
