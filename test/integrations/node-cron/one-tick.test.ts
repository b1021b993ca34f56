/** A tick that is late, one that is delayed, and one that is skipped. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { JobSkippedError, SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleJobs, scheduleLocked, type ScheduleOptions } from 'cronlatch/node-cron';
import { setLogger, type ScheduledTask } from 'node-cron';
import { guardBench, nextEvent, type GuardBench } from '../../support/benches/guard';
import { JOB } from '../../support/benches/lock';
import { beginAt, pass } from '../../support/clocks/mocked-ticks';

const MINUTE = 60_000;
const AT_THREE = '0 3 * * *';
const LATE = { timeZone: 'UTC', missedExecutionTolerance: 10 * MINUTE };
const DELAYED = { timeZone: 'UTC', maxRandomDelay: MINUTE };

const complaints: string[] = [];
let bench: GuardBench;

beforeEach(() => {
  beginAt('2026-11-20T02:59:59Z');
  mock.method(Math, 'random', () => 0.5); // A delay of half a minute.
  const complain = (message: string | Error): void => void complaints.push(String(message));
  setLogger({ info: complain, debug: complain, warn: complain, error: complain });
  bench = guardBench();
});
afterEach(async () => {
  await bench.guard.close();
  mock.restoreAll();
  mock.timers.reset();
  complaints.length = 0;
});

function scheduleMethod(options: ScheduleOptions): ScheduledTask[] {
  class Jobs {
    @Scheduled(AT_THREE, options)
    @SchedulerLock(JOB)
    async job(): Promise<void> {}
  }
  return scheduleJobs(new Jobs(), { guard: bench.guard });
}

function scheduleFunction(options: ScheduleOptions): ScheduledTask[] {
  return [scheduleLocked(AT_THREE, JOB, () => {}, { guard: bench.guard, ...options })];
}

for (const [what, schedule] of [
  ['method', scheduleMethod],
  ['function', scheduleFunction],
] as const) {
  void test(`a ${what} that is late within its tolerance runs for its scheduled time`, async () => {
    schedule(LATE);
    const started = nextEvent(bench.guard, 'run:started');
    mock.timers.tick(5 * MINUTE); // Blocks the process while its tick is due.
    assert.equal((await started).scheduledAt?.toISOString(), '2026-11-20T03:00:00.000Z');
    assert.deepEqual(complaints, []);
  });

  void test(`a ${what} starts after its random delay, for its scheduled time`, async () => {
    schedule(DELAYED);
    const started = nextEvent(bench.guard, 'run:started');
    await pass(2000);
    assert.deepEqual(bench.names(), []);
    mock.timers.tick(MINUTE / 2);
    assert.equal((await started).scheduledAt?.toISOString(), '2026-11-20T03:00:00.000Z');
  });
}

void test('a task that is stopped in its delay has not taken the lock, and another instance gets it', async () => {
  const [task] = scheduleFunction(DELAYED);
  await pass(2000);
  await task?.stop();
  await pass(MINUTE);
  assert.deepEqual(bench.names(), []);
  assert.ok(await bench.other.lock(JOB));
});

class Throwing {
  @Scheduled(AT_THREE, { timeZone: 'UTC' })
  @SchedulerLock({ ...JOB, onSkip: 'throw' })
  async job(): Promise<void> {}
}

void test("a skipped tick of a method with onSkip 'throw' is not a failure for node-cron, but a skipped call rejects", async () => {
  const jobs = new Throwing();
  const [task] = scheduleJobs(jobs, { guard: bench.guard });
  const failures: unknown[] = [];
  task?.on('execution:failed', (context) => void failures.push(context));
  await bench.other.lock(JOB);
  await pass(1000);
  assert.deepEqual([bench.names(), failures, complaints], [['lock:skipped'], [], []]);
  await assert.rejects(jobs.job(), JobSkippedError);
});
