import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { configureJobGuard, NotConfiguredError, SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { guardBench, type GuardBench } from '../../support/guard-bench';

class Jobs {
  @Scheduled('0 3 * * *')
  @SchedulerLock('job', '1m')
  async job(): Promise<string | undefined> {
    return await Promise.resolve('ran');
  }

  @SchedulerLock('by hand only', '1m')
  async byHand(): Promise<string | undefined> {
    return await this.job();
  }
}

const benches: GuardBench[] = [];
function newBench(): GuardBench {
  const bench = guardBench();
  benches.push(bench);
  return bench;
}
afterEach(async () => {
  configureJobGuard(undefined);
  await Promise.all(benches.splice(0).map(({ guard }) => guard.close()));
});

void test('an instance is bound to the guard that scheduled it, also for calls by hand', async () => {
  const [first, second, configured] = [newBench(), newBench(), newBench()];
  configureJobGuard(configured.guard);
  const [one, two] = [new Jobs(), new Jobs()];
  scheduleJobs(one, { guard: first.guard });
  scheduleJobs(two, { guard: second.guard });
  assert.deepEqual(await Promise.all([one.job(), two.job()]), ['ran', 'ran']);
  assert.ok(first.names().includes('run:completed') && second.names().includes('run:completed'));
  assert.deepEqual(configured.names(), []);
});

void test('so are its methods that are not scheduled, and what they call', async () => {
  const bench = newBench();
  const jobs = new Jobs();
  scheduleJobs(jobs, { guard: bench.guard });
  assert.equal(await jobs.byHand(), 'ran');
  assert.equal(bench.names().filter((name) => name === 'lock:acquired').length, 2);
});

void test('other instances of its class are not', async () => {
  const { guard } = newBench();
  scheduleJobs(new Jobs(), { guard });
  await assert.rejects(new Jobs().job(), NotConfiguredError);
});

void test('it stays bound when the guard is closed: calls are skipped, and never go to another guard', async () => {
  const [bound, configured] = [newBench(), newBench()];
  configureJobGuard(configured.guard);
  const jobs = new Jobs();
  scheduleJobs(jobs, { guard: bound.guard });
  await bound.guard.close();
  assert.equal(await jobs.job(), undefined);
  assert.deepEqual(bound.names(), ['lock:skipped']);
  assert.deepEqual(configured.names(), []);
});
