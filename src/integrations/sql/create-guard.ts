import { EventHub, InvalidLockConfigurationError, systemClock } from '../../core';
import { processState } from '../../core/process-state';
import type { JobGuard, JobGuardOptions } from '../../guard';
import { declaredConfigurations } from '../../guard/calls/guarded-method';
import { callsOf } from '../../guard/calls/calls';
import { guardWithRuns } from '../../guard/job-guard';
import { noticesOf } from '../../operations/notices';
import { DatabaseAccess } from '../../storage/sql/database/database-access';
import { SqlLockProvider, type SqlLockProviderOptions } from '../../storage/sql/database/sql-lock-provider';
import type { Ask } from '../../storage/sql/connections/proxy-check';
import { requireInserts } from '../../storage/sql/doctor/tables';
import { SqlRunStore } from '../../storage/sql/ledger/sql-run-store';
import type { TableDefinition } from '../../storage/sql/schema/table-definition';
import type { JobTableOptions, RunTableOptions } from '../../storage/sql/schema/table-options';
import { tableOf } from '../../storage/sql/schema/tables';
import { VerifiedTables } from '../../storage/sql/tables/verified-tables';
import type { PasswordSource, SqlDatabase } from '../../storage/sql/connections/sql-database';

export interface CreateJobGuardOptions
  extends
    Omit<JobGuardOptions, 'lockProvider' | 'events'>,
    Omit<SqlLockProviderOptions, 'onWarning'>,
    Pick<RunTableOptions, 'runTable'>,
    Pick<JobTableOptions, 'jobTable'> {
  /** Provides the locks instead of the lock table. You close it yourself. Runs are still kept in the database. */
  readonly lockProvider?: JobGuardOptions['lockProvider'] | undefined;
  /**
   * Returns the password, for one that changes, such as a token of your cloud. It is called for each connection that cronlatch
   * opens, and has three quarters of `statementTimeout`. Not for SQLite. Default: the one of the source.
   */
  readonly password?: PasswordSource | undefined;
  /** Sends nothing to the database at startup. While the database is down, every tick emits `lock:failed` and no job runs. */
  readonly lazy?: boolean | undefined;
}

/** Of a driver with pools. */
export interface PoolGuardOptions extends CreateJobGuardOptions {
  /** With an address or options: how many connections `inRunTransaction` opens at most, beside the guard's. Default 5. */
  readonly transactionConnections?: number | undefined;
}

export interface GuardDatabase {
  readonly database: SqlDatabase;
  readonly options: CreateJobGuardOptions;
}

const guards = processState('guard-databases', () => new WeakMap<JobGuard, GuardDatabase>());

/** `undefined` if `createJobGuard` of a driver has not created the guard. */
export function databaseOfGuard(guard: JobGuard): GuardDatabase | undefined {
  return guards.get(guard);
}

/** @throws InvalidLockConfigurationError for a `password` that is not a function, or that nothing would call */
export function checkPassword(
  { sessions }: SqlDatabase,
  { password }: Pick<CreateJobGuardOptions, 'password'>,
): void {
  if (password === undefined) return;
  if (typeof password !== 'function')
    // The value is not shown, because it is a secret.
    throw new InvalidLockConfigurationError(
      'The option password must be a function that returns the password. Put a password that never changes into the source.',
    );
  if (sessions === undefined)
    throw new InvalidLockConfigurationError(
      'The option password cannot be used with SQLite, which has no passwords. Remove it.',
    );
}

/** @returns a function that sends a statement, whose errors name the table */
export function askAbout(
  table: TableDefinition,
  { forTables, statementTimeoutMs: timeoutMs }: DatabaseAccess,
): Ask {
  const tables = new VerifiedTables(forTables, [table], () => undefined);
  return async (text) => (await tables.execute({ id: '', text, values: [] }, { timeoutMs })).rows;
}

export async function createGuard(database: SqlDatabase, options: CreateJobGuardOptions): Promise<JobGuard> {
  checkPassword(database, options);
  const events = new EventHub();
  const access = new DatabaseAccess(database, { ...options, onWarning: (message) => events.warn(message) });
  const lockProvider = options.lockProvider ?? new SqlLockProvider(database, options, access);
  const ownLocks = lockProvider === options.lockProvider ? undefined : (lockProvider as SqlLockProvider);
  const groupingClock = access.sendsGroups(options) ? (options.clock ?? systemClock) : undefined;
  const runStore = new SqlRunStore({ ...access.forRuns(options), groupingClock });
  const guard = guardWithRuns({ ...options, lockProvider, events }, runStore, noticesOf);
  guards.set(guard, { database, options });
  const lockStore = ownLocks === undefined ? undefined : database.title;
  Object.assign(callsOf(guard), { database: database.title, lockStore });
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
    if (hasOncePerJobs) {
      await runStore.check();
      // Without its event, the outcome of a failed run cannot be recorded, so that the run would count as crashed.
      const table = tableOf('event', options, database);
      if (database.sessions !== undefined)
        await requireInserts(table, database.dialect, askAbout(table, access));
    }
    return guard;
  } catch (error) {
    await guard.close();
    throw error;
  }
}
