import { EventHub, systemClock } from '../../core';
import { processState } from '../../core/process-state';
import { JobGuard, type JobGuardOptions } from '../../guard';
import { declaredConfigurations } from '../../guard/guarded-method';
import { integrationOf } from '../../guard/integration';
import { DatabaseAccess } from '../../storage/sql/database/database-access';
import { SqlLockProvider, type SqlLockProviderOptions } from '../../storage/sql/database/sql-lock-provider';
import { SqlRunStore } from '../../storage/sql/ledger/sql-run-store';
import type { JobTableOptions, RunTableOptions } from '../../storage/sql/schema/tables';
import type { SqlDatabase } from '../../storage/sql/database/sql-database';
import { rememberDatabase } from './completion';

export interface CreateJobGuardOptions
  extends
    Omit<JobGuardOptions, 'lockProvider' | 'events'>,
    Omit<SqlLockProviderOptions, 'onWarning'>,
    Pick<RunTableOptions, 'runTable'>,
    Pick<JobTableOptions, 'jobTable'> {
  /** Provides the locks instead of the lock table. You close it yourself. Runs are still kept in the database. */
  readonly lockProvider?: JobGuardOptions['lockProvider'] | undefined;
  /** Sends nothing to the database at startup. While the database is down, every tick emits `lock:failed` and no job runs. */
  readonly lazy?: boolean | undefined;
}

/** Of a driver with pools. */
export interface PoolGuardOptions extends CreateJobGuardOptions {
  /** With an address or options: how many connections `inRunTransaction` opens at most, beside the guard's. Default 5. */
  readonly transactionConnections?: number | undefined;
}

/** What a guard was created with. */
export interface GuardDatabase {
  readonly database: SqlDatabase;
  readonly options: CreateJobGuardOptions;
}

const guards = processState('guard-databases', () => new WeakMap<JobGuard, GuardDatabase>());

/** `undefined` if `createJobGuard` of a driver has not created the guard. */
export function databaseOfGuard(guard: JobGuard): GuardDatabase | undefined {
  return guards.get(guard);
}

function runStoreOn(access: DatabaseAccess, options: CreateJobGuardOptions): SqlRunStore {
  const { clock = systemClock } = options;
  const groupingClock = access.sendsGroups(options) ? clock : undefined;
  return new SqlRunStore({ ...access.forRuns(options), groupingClock });
}

/** A guard whose locks and runs are in one database. */
export async function createGuard(database: SqlDatabase, options: CreateJobGuardOptions): Promise<JobGuard> {
  const events = new EventHub();
  const onWarning = (message: string): void => events.emit('guard:warning', { message });
  const access = new DatabaseAccess(database, { ...options, onWarning });
  const lockProvider = options.lockProvider ?? new SqlLockProvider(database, options, access);
  const ownLocks = lockProvider === options.lockProvider ? undefined : (lockProvider as SqlLockProvider);
  const runStore = options.runStore ?? runStoreOn(access, options);
  rememberDatabase(runStore, database);
  const guard = new JobGuard({ ...options, lockProvider, runStore, events });
  guards.set(guard, { database, options });
  integrationOf(guard).database = database.title;
  guard.onClose({
    async close() {
      await ownLocks?.close();
      await access.close();
      await database.close?.();
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
