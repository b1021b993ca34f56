import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { configureJobGuard, InvalidLockUseError, NotConfiguredError, SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { guardBench, type GuardBench } from '../../support/benches/guard';

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

void test('an instance is bound to the guard that scheduled it, also for manual calls', async () => {
  const [first, second, configured] = [newBench(), newBench(), newBench()];
  configureJobGuard(configured.guard);
  const [one, two] = [new Jobs(), new Jobs()];
  scheduleJobs(one, { guard: first.guard });
  scheduleJobs(two, { guard: second.guard });
  assert.deepEqual(await Promise.all([one.job(), two.job()]), ['ran', 'ran']);
  assert.ok(first.names().includes('run:completed') && second.names().includes('run:completed'));
  assert.deepEqual(configured.names(), []);
});

void test('its methods without a schedule, and the methods that they call, are bound as well', async () => {
  const bench = newBench();
  const jobs = new Jobs();
  scheduleJobs(jobs, { guard: bench.guard });
  assert.equal(await jobs.byHand(), 'ran');
  assert.equal(bench.names().filter((name) => name === 'lock:acquired').length, 2);
});

void test('other instances of its class are not bound', async () => {
  const { guard } = newBench();
  scheduleJobs(new Jobs(), { guard });
  await assert.rejects(new Jobs().job(), NotConfiguredError);
});

void test('an instance stays bound after the guard has closed: calls are skipped, and never use another guard', async () => {
  const [bound, configured] = [newBench(), newBench()];
  configureJobGuard(configured.guard);
  const jobs = new Jobs();
  scheduleJobs(jobs, { guard: bound.guard });
  await bound.guard.close();
  assert.equal(await jobs.job(), undefined);
  assert.deepEqual(bound.names(), ['lock:skipped']);
  assert.deepEqual(configured.names(), []);
});

/** An instance with its own guard, beside the configured guard. */
function besideConfigured(): { jobs: Jobs; bound: GuardBench; configured: GuardBench } {
  const [bound, configured, jobs] = [newBench(), newBench(), new Jobs()];
  configureJobGuard(configured.guard);
  scheduleJobs(jobs, { guard: bound.guard });
  return { jobs, bound, configured };
}

void test('an instance stays bound behind a Proxy, and behind an object that inherits from it', async () => {
  const { jobs, bound, configured } = besideConfigured();
  assert.equal(await new Proxy(jobs, {}).job(), 'ran');
  assert.equal(await (Object.create(jobs) as Jobs).job(), 'ran');
  assert.equal(bound.names().filter((name) => name === 'run:completed').length, 2);
  assert.deepEqual(configured.names(), []);
});

void test('with several guards, a method without its instance does not run, and the error explains how to call it (F-94)', async () => {
  const { jobs, bound, configured } = besideConfigured();
  const detached = Reflect.get(jobs, 'job') as () => Promise<unknown>;
  const elsewhere = { job: detached };
  for (const call of [detached, () => elsewhere.job(), () => detached.call(setTimeout(() => {}, 0))]) {
    await assert.rejects(call(), (error: InvalidLockUseError) => {
      assert.ok(error instanceof InvalidLockUseError);
      assert.match(error.message, /^The job with lock 'job' did not run: .*more than one guard.*instance/);
      return true;
    });
  }
  assert.deepEqual([bound.names(), configured.names()], [[], []]);
});

void test('a method of a frozen instance behind a Proxy, which cannot be recognised, does not run either', async () => {
  const [bound, configured, jobs] = [newBench(), newBench(), Object.freeze(new Jobs())];
  configureJobGuard(configured.guard);
  scheduleJobs(jobs, { guard: bound.guard });
  assert.equal(await jobs.job(), 'ran');
  await assert.rejects(new Proxy(jobs, {}).job(), InvalidLockUseError);
  assert.deepEqual(configured.names(), []);
});

void test('an instance that is not scheduled runs through the configured guard, also if there is another guard', async () => {
  const { bound, configured } = besideConfigured();
  assert.equal(await new Jobs().job(), 'ran');
  assert.ok(configured.names().includes('run:completed'));
  assert.deepEqual(bound.names(), []);
});

void test('after the other guard has closed, a method without its instance runs through the configured one', async () => {
  const { bound, configured } = besideConfigured();
  await bound.guard.close();
  assert.equal(await (Reflect.get(Jobs.prototype, 'job') as () => Promise<unknown>)(), 'ran');
  assert.ok(configured.names().includes('run:completed'));
});
