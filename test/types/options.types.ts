/** Which options are accepted: this file is compiled by each compiler, and never run. */
import {
  JobGuard,
  type LockManager,
  OncePerDay,
  SchedulerLock,
  structured,
  type Duration,
  type TaskResult,
} from 'cronlatch';
import type { FieldLogger } from 'cronlatch/provider';
import { InMemoryLockProvider } from 'cronlatch/memory';
import { Scheduled, scheduleLocked } from 'cronlatch/node-cron';
import { createJobGuard } from 'cronlatch/typeorm';
import { useTestGuard } from 'cronlatch/testing';
import type { DataSource } from 'typeorm';

const lockProvider = new InMemoryLockProvider();
const JOB = { name: 'job', lockAtMostFor: '1m' } as const;

/**
 * A duration may come from outside: a text is checked when it is used, and an invalid one throws an error
 * that names it.
 */
export const durations: Duration[] = ['10m', '1h30m', 'PT10M', 600_000, process.env['LOCK_FOR'] ?? '10m'];

export const taken = [
  () => SchedulerLock('job', '10m', '30s'),
  () => SchedulerLock('job'),
  () => SchedulerLock({ ...JOB, lockAtLeastFor: 500, keepAlive: '20s', maxLockDuration: '2h', shared: true }),
  () => SchedulerLock({ name: 'job', lockAtMostFor: undefined }),
  () =>
    SchedulerLock(
      'job',
      () => '10m',
      (jobs: { readonly shortest: number }) => jobs.shortest,
    ),
  () => SchedulerLock({ name: 'job', lockAtMostFor: (jobs: { readonly longest: string }) => jobs.longest }),
  (guard: JobGuard) =>
    guard.wrap({ name: (id: number) => `job ${id}`, lockAtMostFor: () => 600_000 }, () => {}),
  () => new JobGuard({ lockProvider, logger: false, pollInterval: '5m' }),
  () => scheduleLocked('* * * * *', { ...JOB, oncePer: { period: 'day' } }, () => {}, { timeZone: 'UTC' }),
  (dataSource: DataSource) => createJobGuard(dataSource, { lockTable: 'shedlock', lazy: true }),
  () => createJobGuard({ type: 'mysql', database: 'billing' }),
  () => useTestGuard({ now: '2026-03-29T01:30:00Z' }),
  () => new JobGuard({ lockProvider, logger: { error: () => {}, warn: () => {} } }),
  (pino: FieldLogger) => new JobGuard({ lockProvider, logger: structured(pino) }),
];

export const refused = [
  // @ts-expect-error -- "Argument of type 'Date' is not assignable to parameter of type"
  () => SchedulerLock('job', new Date()),
  // @ts-expect-error -- "Argument of type '10n' is not assignable to parameter of type"
  () => SchedulerLock('job', 10n),
  // @ts-expect-error -- "Expected 1-3 arguments, but got 4"
  () => SchedulerLock('job', '10m', '30s', '1h'),
  // @ts-expect-error -- a lock has a name
  () => SchedulerLock({ lockAtMostFor: '1m' }),
  // @ts-expect-error -- "Did you mean to write 'lockAtMostFor'?"
  () => SchedulerLock({ name: 'job', lockAtMost: '1m' }),
  // @ts-expect-error -- a function that may return nothing
  () => SchedulerLock('job', (): string | undefined => undefined),
  // @ts-expect-error -- "Property 'config' does not exist on type 'never'": the class must be named
  () => SchedulerLock({ name: 'job', lockAtMostFor: (jobs) => String(jobs.config) }),
  // @ts-expect-error -- no class, so no instance
  () => scheduleLocked('* * * * *', { name: 'job', lockAtMostFor: (jobs: number) => `${jobs}m` }, () => {}),
  // @ts-expect-error -- only the times of a job can be functions
  (manager: LockManager) => manager.tryLock('job', { lockAtMostFor: () => '1m' }),
  // @ts-expect-error -- "Type 'string' is not assignable to type 'boolean"
  () => SchedulerLock({ ...JOB, shared: 'yes' }),
  // @ts-expect-error -- "Property 'lockProvider' is missing in type '{}'"
  () => new JobGuard({}),
  // @ts-expect-error -- a logger also has warn
  () => new JobGuard({ lockProvider, logger: { error: () => {} } }),
  // @ts-expect-error -- createJobGuard of a driver, or of cronlatch/memory, keeps the runs
  () => new JobGuard({ lockProvider, runStore: {} }),
  // @ts-expect-error -- node-cron's spelling: "Did you mean to write 'timeZone'?"
  () => Scheduled('0 3 * * *', { timezone: 'Europe/Paris' }),
  // @ts-expect-error -- "Did you mean to write 'timeZone'?"
  () => OncePerDay({ timezone: 'Europe/Paris' }),
  // @ts-expect-error -- "'attempts' does not exist in type 'RetryOptions'"
  () => OncePerDay({ retry: { attempts: 3 } }),
  // @ts-expect-error -- "'table' does not exist in type 'CreateJobGuardOptions'"
  (dataSource: DataSource) => createJobGuard(dataSource, { table: 'shedlock' }),
  // @ts-expect-error -- "'data' does not exist": neither a DataSource nor its options
  () => createJobGuard({ type: 'mysql', data: 'billing' }),
];

/** The value of a task is typed once it is known that it ran. */
export async function results(guard: JobGuard): Promise<number | undefined> {
  const result: TaskResult<number> = await guard.run(JOB, async (lock) => {
    await lock.extend('10m');
    return lock.remainingMs();
  });
  // @ts-expect-error -- "Property 'value' does not exist on type"
  void result.value;
  const wrapped: (id: number) => Promise<string | undefined> = guard.wrap(JOB, (id: number) => String(id));
  // @ts-expect-error -- "Argument of type 'string' is not assignable to parameter of type 'number'"
  await wrapped('1');
  return result.executed ? result.value : undefined;
}
