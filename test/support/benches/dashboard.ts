import type { Browser } from 'playwright-core';
import type { JobGuard } from 'cronlatch';
import { createJobGuard, createTables } from 'cronlatch/better-sqlite3';
import { sqliteDatabase } from '../databases/fresh';
import { testInBrowser } from '../processes/browser';
import { closing } from './closing';
import { serveDashboard } from './served-dashboard';

/** A guard on a SQLite file, and its dashboard, which alice may operate. */
export interface DashboardBench {
  readonly browser: Browser;
  /** The database. */
  readonly file: string;
  readonly guard: JobGuard;
  readonly address: string;
  readonly stopServer: () => Promise<void>;
  /** On the same port as before. */
  readonly startServer: () => Promise<void>;
  /** @returns the key of the period */
  readonly runDaysAgo: (job: string, days: number, error?: Error) => Promise<string>;
}

/**
 * A test of the pages that a browser shows.
 *
 * @param fill creates the tables. Default: leaves them empty
 */
export function testDashboard(
  name: string,
  body: (bench: DashboardBench) => Promise<void>,
  fill: (file: string) => Promise<void> = (file) => createTables(`sqlite:${file}`),
): void {
  testInBrowser(name, async (browser) => {
    await using database = closing(sqliteDatabase());
    const { database: file } = database.options as { database: string };
    await fill(file);
    await using guard = closing(
      await createJobGuard(`sqlite:${file}`, { logger: false, pollInterval: false }),
    );
    let served = await serveDashboard(guard);
    const { address } = served;
    try {
      const bench = {
        ...{ browser, file, guard, address },
        stopServer: () => served.stop(),
        startServer: async () => void (served = await serveDashboard(guard, Number(new URL(address).port))),
        runDaysAgo: (...of: Parameters<DashboardBench['runDaysAgo']>) => runDaysAgo(guard, ...of),
      };
      await body(bench);
    } finally {
      await served.stop();
    }
  });
}

async function runDaysAgo(guard: JobGuard, job: string, days: number, error?: Error): Promise<string> {
  const at = new Date(Date.now() - days * 86_400_000);
  const task = (): void => {
    if (error !== undefined) throw error;
  };
  await guard.run({ ...daily(job), at }, task).catch(() => {});
  return at.toISOString().slice(0, 10);
}

/** A job of one attempt per day. */
export function daily(name: string) {
  const oncePer = { period: 'day', timeZone: 'UTC', retry: { maxAttempts: 1 } } as const;
  return { name, lockAtMostFor: '10m', oncePer } as const;
}

/** The queries of one page of each kind. */
export function pagesOf(job: string, period: string): string[] {
  const pages = [{}, { job }, { job, period }, { locks: 'all' }, { lock: job }];
  return pages.map((query) => `?${new URLSearchParams(query).toString()}`);
}
