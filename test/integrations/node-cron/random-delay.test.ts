import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleJobs, scheduleLocked } from 'cronlatch/node-cron';
import { guardBench, nextEvent, type GuardBench } from '../../support/benches/guard';
import { JOB, turn } from '../../support/benches/lock';

const MINUTE = 60_000;

class Spread {
  @Scheduled('0 3 * * *', { timeZone: 'UTC', maxRandomDelay: MINUTE })
  @SchedulerLock('job', '10m')
  async job(): Promise<void> {}
}

let bench: GuardBench;

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: new Date('2026-11-20T02:59:59Z') });
  mock.method(Math, 'random', () => 0.5); // A delay of half a minute.
  bench = guardBench();
});
afterEach(async () => {
  await bench.guard.close();
  mock.restoreAll();
  mock.timers.reset();
});

void test('a method starts after its delay, for its scheduled time', async () => {
  const { guard, names } = bench;
  scheduleJobs(new Spread(), { guard });
  const started = nextEvent(guard, 'run:started');
  mock.timers.tick(2000);
  await turn();
  assert.deepEqual(names(), []);
  mock.timers.tick(MINUTE / 2);
  assert.equal((await started).scheduledAt?.toISOString(), '2026-11-20T03:00:00.000Z');
});

void test('a task that is stopped in its delay has not taken the lock, and another instance gets it', async () => {
  const options = { guard: bench.guard, timeZone: 'UTC', maxRandomDelay: MINUTE };
  const task = scheduleLocked('0 3 * * *', JOB, () => assert.fail('ran'), options);
  mock.timers.tick(2000);
  await turn();
  await task.stop();
  mock.timers.tick(MINUTE);
  await turn();
  assert.deepEqual(bench.names(), []);
  assert.ok(await bench.other.lock(JOB));
});
