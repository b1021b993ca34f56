import { EventHub } from '../../core';
import { JobGuard, type JobGuardOptions } from '../../guard';
import { declaredConfigurations } from '../../guard/guarded-method';
import { DatabaseAccess } from '../../storage/sql/database/database-access';
import { SqlLockProvider, type SqlLockProviderOptions } from '../../storage/sql/database/sql-lock-provider';
import { SqlRunStore } from '../../storage/sql/ledger/sql-run-store';
import type { RunTableOptions } from '../../storage/sql/schema/run-tables';
import { rememberSource, type RunSource } from './run-databases';

export interface CreateJobGuardOptions
  extends
    Omit<JobGuardOptions, 'lockProvider' | 'events'>,
    Omit<SqlLockProviderOptions, 'onWarning'>,
    Pick<RunTableOptions, 'runTable'> {
  /** Provides the locks instead of the lock table. You close it yourself. Runs are still kept in the database. */
  readonly lockProvider?: JobGuardOptions['lockProvider'] | undefined;
  /** Sends nothing to the database at startup. While the database is down, every tick emits `lock:failed` and no job runs. */
  readonly lazy?: boolean | undefined;
}

/** A guard whose locks and runs are in one database. */
export async function createGuard(
  source: RunSource,
  options: CreateJobGuardOptions,
  closeSource?: () => Promise<void> | void,
): Promise<JobGuard> {
  const { database } = source;
  const events = new EventHub();
  const onWarning = (message: string): void => events.emit('guard:warning', { message });
  const access = new DatabaseAccess(database, { ...options, onWarning });
  const lockProvider = options.lockProvider ?? new SqlLockProvider(database, options, access);
  const ownLocks = lockProvider === options.lockProvider ? undefined : (lockProvider as SqlLockProvider);
  const runStore = options.runStore ?? new SqlRunStore(access.forRuns(options));
  rememberSource(runStore, source);
  const guard = new JobGuard({ ...options, lockProvider, runStore, events });
  guard.onClose({
    async close() {
      await ownLocks?.close();
      await access.close();
      await closeSource?.();
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
