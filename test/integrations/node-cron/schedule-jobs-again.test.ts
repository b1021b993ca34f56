import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { SchedulerLock, type JobGuard } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { getTasks } from 'node-cron';
import { guardBench } from '../../support/benches/guard';

const SHARED = { name: 'shared', lockAtMostFor: '1m', shared: true };

class Jobs {
  @Scheduled('0 3 * * *')
  @SchedulerLock('job', '1m')
  async job(): Promise<string | undefined> {
    return await Promise.resolve('ran');
  }
}

class Others {
  @Scheduled('0 3 * * *')
  @SchedulerLock('job', '1m')
  async other(): Promise<void> {}
}

class Sharing {
  @Scheduled('0 3 * * *')
  @SchedulerLock(SHARED)
  async first(): Promise<void> {}

  @Scheduled('0 4 * * *')
  @SchedulerLock(SHARED)
  async second(): Promise<void> {}
}

const twice = { name: 'InvalidLockUseError', message: /^This Jobs is already scheduled/ };
const guards: JobGuard[] = [];
function newGuard(): JobGuard {
  const { guard } = guardBench();
  guards.push(guard);
  return guard;
}
afterEach(async () => {
  await Promise.all(guards.splice(0).map((guard) => guard.close()));
  assert.equal(getTasks().size, 0);
});

void test('methods that share a lock may both be scheduled, also on several instances', () => {
  const guard = newGuard();
  assert.equal(scheduleJobs([new Sharing(), new Sharing()], { guard }).length, 4);
  assert.equal(scheduleJobs(new Sharing(), { guard }).length, 2);
});

void test('a name that an earlier call has scheduled is rejected, naming both places (F-84)', () => {
  const guard = newGuard();
  scheduleJobs(new Jobs(), { guard });
  assert.throws(() => scheduleJobs(new Others(), { guard }), {
    name: 'InvalidLockConfigurationError',
    message: /^Lock 'job' is used by Jobs\.job and by Others\.other.*shared: true on both/,
  });
  assert.equal(getTasks().size, 1);
});

void test('two guards do not share their names (F-87)', () => {
  scheduleJobs(new Jobs(), { guard: newGuard() });
  assert.doesNotThrow(() => scheduleJobs(new Others(), { guard: newGuard() }));
});

void test('an instance that an earlier call has scheduled is rejected, with the same guard and with another', () => {
  const guard = newGuard();
  const jobs = new Jobs();
  scheduleJobs(jobs, { guard });
  assert.throws(() => scheduleJobs(jobs, { guard }), twice);
  assert.throws(() => scheduleJobs(jobs, { guard: newGuard() }), twice);
  assert.equal(getTasks().size, 1);
});

void test('after its guard has closed, an instance may be scheduled with another', async () => {
  const jobs = new Jobs();
  const first = newGuard();
  scheduleJobs(jobs, { guard: first });
  await first.close();
  const [task] = scheduleJobs(jobs, { guard: newGuard() });
  assert.equal(await task?.execute(), 'ran');
});
