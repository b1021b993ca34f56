import Database from 'better-sqlite3';
import type { JobGuard } from 'cronlatch';
import { callsOf } from '#cronlatch/guard/calls/calls';
import type { DeclaredJob, JobRegistration } from '#cronlatch/ledger/job-register';
import type { LedgerContext } from '#cronlatch/ledger/store-statements';
import type { DriverBench } from '../support/benches/driver';

const DAY_MS = 86_400_000;

/** What an instance declares about a job that runs once per day, in UTC. */
export function dailyJob(job: string, declared: Partial<DeclaredJob> = {}): JobRegistration {
  return {
    job,
    declared: {
      ...{ lock: job, lockAtMostForMs: 600_000, lockAtLeastForMs: 0 },
      ...{ kind: 'day', timeZone: 'UTC', hasCalendar: false, hasScopeFunction: false },
      schedules: [{ expression: '0 3 * * *', timeZone: 'UTC', dialect: 'unix' }],
      ...declared,
    },
    version: '0.1.0',
    registeredBy: 'web-1/17',
  };
}

/** One whose only tick was due so long ago. */
export function dueJob(job: string, agoMs: number, declared: Partial<DeclaredJob> = {}): JobRegistration {
  return dailyJob(job, { schedules: [{ at: new Date(Date.now() - agoMs).toISOString() }], ...declared });
}

/** Registers jobs, as if they were declared 30 days ago: the ticks since then count. */
export async function registerEarlier(
  bench: Pick<DriverBench, 'driver' | 'query'> & { readonly guard: JobGuard },
  ...jobs: readonly JobRegistration[]
): Promise<void> {
  await register(bench.guard, ...jobs);
  await bench.query(`UPDATE cronlatch_job SET declared_at = ${instantOn(bench, Date.now() - 30 * DAY_MS)}`);
}

/** The same for the guard of a SQLite file. */
export async function registerEarlierIn(
  file: string,
  guard: JobGuard,
  ...jobs: readonly JobRegistration[]
): Promise<void> {
  const database = new Database(file);
  const query = (text: string) => Promise.resolve(database.prepare(text).run() as never);
  await registerEarlier({ guard, driver: 'better-sqlite3', query }, ...jobs);
  database.close();
}

/** The store of a guard, to write what other instances would. */
export function ledgerOf(guard: JobGuard): LedgerContext {
  return callsOf(guard).requireOncePerRunner('the test needs').context;
}

export async function register(guard: JobGuard, ...jobs: readonly JobRegistration[]): Promise<void> {
  const { store, statementTimeoutMs: timeoutMs } = ledgerOf(guard);
  await store.registerJobs?.(jobs, { timeoutMs });
}

/** The runs that 100 jobs leave after a year: each has completed on every day, today included. */
export async function fillRuns(
  bench: Pick<DriverBench, 'driver' | 'query'>,
  { jobs = 100, days = 365 } = {},
): Promise<void> {
  const today = Math.floor(Date.now() / DAY_MS);
  for (let job = 0; job < jobs; job += 1) {
    const rows = Array.from({ length: days }, (_, back) => {
      const [start, end] = [today - back, today - back + 1].map((day) => instantOn(bench, day * DAY_MS));
      const key = new Date((today - back) * DAY_MS).toISOString().slice(0, 10);
      const result = `'{"rows":${back},"note":"${'x'.repeat(100)}"}'`;
      return `('job-${job}', '', '${key}', ${start}, ${end}, 'UTC', 'completed', 0, 1, ${start}, ${start}, ${result}, ${start}, ${start})`;
    });
    await bench.query(`INSERT INTO cronlatch_run (job_name, scope, period_key, period_start, period_end, time_zone, state,
      generation, attempt, started_at, finished_at, result, created_at, updated_at) VALUES ${rows.join(', ')}`);
  }
  if (bench.driver !== 'mysql2') await bench.query('ANALYZE cronlatch_run');
  else await bench.query('ANALYZE TABLE cronlatch_run');
}

/** The tables as these jobs leave them: their runs, and their registration. */
export async function fillYear(bench: DriverBench, { jobs = 100, days = 365 } = {}): Promise<void> {
  await fillRuns(bench, { jobs, days });
  const guard = await bench.createJobGuard(bench.url, { pollInterval: false, logger: false });
  await register(guard, ...Array.from({ length: jobs }, (_, job) => dailyJob(`job-${job}`)));
  await guard.close();
}

/** SQLite has no type for instants: the tables keep microseconds. */
function instantOn({ driver }: Pick<DriverBench, 'driver'>, ms: number): string {
  if (driver === 'better-sqlite3') return String(ms * 1000);
  const text = new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
  return driver === 'pg' ? `'${text}+00'` : `'${text}'`;
}
