import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { configureJobGuard, currentLock, OncePerDay, SchedulerLock, type Duration } from 'cronlatch';
import type { MethodLock } from 'cronlatch/provider';
import { Scheduled, scheduleJobs, scheduleLocked } from 'cronlatch/node-cron';
import { guardBench } from '../support/benches/guard';
import { guardOfRuns } from '../support/benches/guard-of-runs';

const never = (): void => assert.fail('ran');
const lease = (): number => currentLock().remainingMs();
const noSetting = (): never => assert.fail('no setting');
const DAY = { name: 'close-day', timeZone: 'UTC' };

afterEach(() => configureJobGuard(undefined));

/** A class of the application whose settings are known when it has an instance. */
function jobsWith(options: Omit<MethodLock, 'name'> = {}) {
  class Jobs {
    calls = 0;
    constructor(readonly settings: Readonly<Record<string, Duration>>) {}

    longest(): Duration {
      this.calls += 1;
      return this.settings['longest'] ?? assert.fail('no setting');
    }

    @Scheduled('0 3 * * *', { timeZone: 'UTC' })
    @SchedulerLock({
      lockAtMostFor: (jobs: Jobs) => jobs.longest(),
      ...options,
      name: 'report',
      shared: true,
    })
    async report(): Promise<number | undefined> {
      return Promise.resolve(currentLock().remainingMs());
    }
  }
  return Jobs;
}

void test('scheduleJobs calls the function once, with the instance, and no tick calls it again', async () => {
  const { guard } = guardBench();
  const jobs = new (jobsWith())({ longest: '4m' });
  const [task] = scheduleJobs(jobs, { guard });
  assert.equal(jobs.calls, 1);
  assert.deepEqual([await task?.execute(), await jobs.report(), jobs.calls], [240_000, 240_000, 1]);
  await guard.close();
});

void test('each instance has its own times', async () => {
  const { guard } = guardBench();
  const Jobs = jobsWith();
  const instances = [new Jobs({ longest: '4m' }), new Jobs({ longest: '5m' })];
  scheduleJobs(instances, { guard });
  const leases = [await instances[0]?.report(), await instances[1]?.report()];
  assert.deepEqual(leases, [240_000, 300_000]);
  await guard.close();
});

void test('configureJobGuard does not call the function, and the first call does', async () => {
  const { guard } = guardBench();
  const jobs = new (jobsWith())({ longest: '4m' });
  configureJobGuard(guard);
  assert.equal(jobs.calls, 0);
  assert.deepEqual([await jobs.report(), await jobs.report(), jobs.calls], [240_000, 240_000, 1]);
});

void test('each guard calls the function of a job that it registers', async () => {
  const jobs = new (jobsWith())({ longest: '4m' });
  for (const calls of [1, 2]) {
    const { guard } = guardBench();
    scheduleJobs(jobs, { guard });
    assert.equal(jobs.calls, calls);
    await guard.close();
  }
});

void test('functions can also be arguments, without the instance', async () => {
  const settings: { longest?: string; shortest?: string } = {};
  class Jobs {
    @Scheduled('0 3 * * *', { timeZone: 'UTC' })
    @SchedulerLock('report', () => settings.longest ?? '', () => settings.shortest ?? '')
    @OncePerDay()
    async report(): Promise<void> {}
  }
  Object.assign(settings, { longest: '5m', shortest: '1s' });
  const { guard, runStore } = guardOfRuns();
  scheduleJobs(new Jobs(), { guard });
  await guard.close();
  const { jobs } = await runStore.jobs();
  const { lockAtMostForMs, lockAtLeastForMs } = jobs[0]?.declared ?? {};
  assert.deepEqual([lockAtMostForMs, lockAtLeastForMs], [300_000, 1000]);
});

void test('scheduleLocked and wrap call the function once', async () => {
  const { guard } = guardBench();
  let calls = 0;
  const job = (name: string) => ({ name, lockAtMostFor: () => `${(calls += 1)}m` });
  const task = scheduleLocked('0 3 * * *', job('scheduled'), lease, { guard });
  const wrapped = guard.wrap(job('wrapped'), lease);
  assert.equal(calls, 2);
  assert.deepEqual([await task.execute(), await task.execute(), await wrapped()], [60_000, 60_000, 120_000]);
  await guard.close();
});

for (const [what, times, message] of [
  [
    'that throws',
    { lockAtMostFor: noSetting },
    /^lockAtMostFor of job 'report' threw an error\. The function must return a duration, such as '10m'\.$/,
  ],
  [
    'that returns nothing',
    { lockAtLeastFor: () => undefined },
    /^lockAtLeastFor of job 'report', returned by its function, is undefined, which is not a duration/,
  ],
  [
    'that returns a promise',
    { lockAtMostFor: () => Promise.resolve('10m') },
    /^lockAtMostFor of job 'report', returned by its function, is Promise/,
  ],
  [
    'that returns an invalid duration',
    { lockAtMostFor: () => '5y' },
    /^lockAtMostFor of job 'report', returned by its function, is "5y", which is not a duration/,
  ],
  [
    'whose duration contradicts a default',
    { lockAtLeastFor: () => '4m' },
    /^lockAtLeastFor \(4m\) is longer than lockAtMostFor \(3m\) for lock 'report'\. The job does not set lockAtMostFor, so the guard's default applies\.$/,
  ],
] as [string, Omit<MethodLock, 'name'>, RegExp][]) {
  void test(`a function ${what} is rejected when the job is registered, and the error names the job and the option`, async () => {
    const { guard } = guardBench({ defaultLockAtMostFor: '3m' });
    const naming = { name: 'InvalidLockConfigurationError', message };
    const job = { ...(times as { lockAtMostFor: () => string }), name: 'report' };
    const jobs = new (jobsWith({ lockAtMostFor: undefined, ...times }))({});
    assert.throws(() => scheduleJobs(jobs, { guard }), naming);
    assert.throws(() => scheduleLocked('0 3 * * *', job, never, { guard }), naming);
    assert.throws(() => guard.wrap(job, never), naming);
    assert.throws(() => guard.check(job), naming);
    configureJobGuard(guard);
    await assert.rejects(jobs.report(), naming);
    await guard.close();
  });
}

void test('an error keeps the error of the function as its cause', () => {
  const { guard } = guardBench();
  const isKept = ({ cause }: Error): boolean => cause instanceof Error && cause.message === 'no setting';
  assert.throws(() => guard.check({ name: 'report', lockAtMostFor: noSetting }), isKept);
});

void test('a once-per job is named in the error of its function', () => {
  const { guard } = guardOfRuns();
  const job = { name: 'lock', lockAtMostFor: () => 'soon', oncePer: { ...DAY, period: 'day' } } as const;
  assert.throws(
    () => guard.check(job),
    /^InvalidLock.*: lockAtMostFor of job 'close-day', returned by its function, is "soon"/,
  );
});

void test('all other options of the lock are still checked when the decorator is applied', () => {
  assert.throws(
    () => jobsWith({ keepAlive: 'often' }),
    /^InvalidLock.*keepAlive of lock 'report' is "often"/,
  );
});
