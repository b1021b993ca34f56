/** What all ways to schedule have in common. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { configureJobGuard, SchedulerLock } from 'cronlatch';
import {
  Scheduled,
  scheduleDistributed,
  scheduleJobs,
  scheduleLocked,
  type ScheduleJobsOptions,
} from 'cronlatch/node-cron';
import { getTasks, type ScheduledTask } from 'node-cron';
import { guardOfRuns, type GuardOfRuns } from '../../support/benches/guard-of-runs';
import { JOB } from '../../support/benches/lock';

const AT_THREE = '0 3 * * *';
const TOKYO = { timeZone: 'Asia/Tokyo' };

class Jobs {
  @Scheduled(AT_THREE, TOKYO)
  @SchedulerLock(JOB)
  async job(): Promise<string | undefined> {
    return await Promise.resolve('ran');
  }
}

const WAYS: Readonly<Record<string, (options?: ScheduleJobsOptions) => ScheduledTask | undefined>> = {
  scheduleJobs: (options) => scheduleJobs(new Jobs(), options)[0],
  scheduleLocked: (options) => scheduleLocked(AT_THREE, JOB, () => 'ran', { ...TOKYO, ...options }),
  scheduleDistributed: (options) =>
    scheduleDistributed(AT_THREE, () => 'ran', { ...TOKYO, name: 'job', ...options }),
};

let bench: GuardOfRuns;
beforeEach(() => void (bench = guardOfRuns()));
afterEach(async () => {
  configureJobGuard(undefined);
  await bench.guard.close();
  assert.equal(getTasks().size, 0);
});

for (const [way, schedule] of Object.entries(WAYS)) {
  void test(`${way}: the expression is evaluated in its time zone`, () => {
    const task = schedule({ guard: bench.guard });
    const name = way === 'scheduleJobs' ? 'Jobs.job' : 'job';
    assert.deepEqual([task?.name, task?.getPattern(), task?.getStatus()], [name, AT_THREE, 'idle']);
    assert.equal(task?.getNextRun()?.getUTCHours(), 18);
  });

  void test(`${way}: closing the guard destroys the task, and nothing more can be scheduled`, async () => {
    const { guard } = bench;
    const task = schedule({ guard });
    await guard.close();
    assert.equal(task?.getStatus(), 'destroyed');
    const message = new RegExp(`^${way} cannot use a closed guard`);
    assert.throws(() => schedule({ guard }), { name: 'InvalidLockUseError', message });
  });

  void test(`${way}: without a guard option the configured guard is used`, async () => {
    configureJobGuard(bench.guard);
    const task = schedule();
    configureJobGuard(undefined);
    assert.equal(await task?.execute(), 'ran');
    assert.ok(bench.names().includes('run:completed'));
  });

  void test(`${way}: without any guard nothing can be scheduled, and the error explains how to pass one (F-87)`, () => {
    const message = new RegExp(`^${way} needs a guard. Pass { guard }, or call configureJobGuard`);
    assert.throws(() => schedule(), { name: 'NotConfiguredError', message });
  });
}
