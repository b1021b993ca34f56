import type { LockState } from '../core';
import type { JobGuard } from '../guard';
import { isJobGuard } from '../guard/integration';
import { createGuard, type CreateJobGuardOptions } from '../integrations/sql/create-guard';
import { openDatabase } from './database-of';
import { exportedValue } from './exported-value';
import type { GuardOptions } from './options';

/** The guard that a command works with. */
export interface OpenedGuard {
  readonly guard: JobGuard;
  /** Whether the application created it, and not this command. */
  readonly isOfApp: boolean;
  /** Ends the connections of the guard, and those that the command opened. */
  readonly close: () => Promise<void>;
}

/**
 * The application's guard, or a guard of the command on the same tables. The latter logs nothing, starts no overdue
 * runs, and knows no jobs.
 *
 * @param own further options of a guard of the command
 * @throws UsageError if the options lead to no guard and no database
 * @throws CronlatchError naming the package to install if the driver is missing
 */
export async function openGuard(
  { app, url, dataSource, lockTable, runTable, jobTable, schema }: GuardOptions,
  own: CreateJobGuardOptions = {},
): Promise<OpenedGuard> {
  if (app !== undefined) {
    const guard = await exportedValue(app, { option: '--app', kind: 'job guard', is: isGuard });
    return { guard, isOfApp: true, close: async () => void (await guard.close()) };
  }
  const { database, close } = await openDatabase({ url, dataSource }, { creates: false });
  const guard = await createGuard(
    { database, owner: database, subpath: 'cronlatch' },
    { lockTable, runTable, jobTable, schema, lazy: true, logger: false, pollInterval: false, ...own },
    close,
  );
  return { guard, isOfApp: false, close: async () => void (await guard.close()) };
}

const PAGE = 1000;

/** @param most ends the list with the page that reaches this number */
export async function allLocks({ locks }: JobGuard, most = Infinity): Promise<readonly LockState[]> {
  const all: LockState[] = [];
  let page: readonly LockState[];
  do {
    page = await locks.list({ after: all.at(-1)?.name, limit: PAGE });
    all.push(...page);
  } while (page.length === PAGE && all.length < most);
  return all;
}

function isGuard(value: unknown): value is JobGuard {
  return isJobGuard(value);
}
