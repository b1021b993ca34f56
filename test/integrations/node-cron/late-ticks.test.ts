import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { SchedulerLock, type JobGuard } from 'cronlatch';
import { Scheduled, scheduleJobs, scheduleLocked } from 'cronlatch/node-cron';
import { setLogger } from 'node-cron';
import { guardBench, nextEvent } from '../../support/benches/guard';
import { JOB } from '../../support/benches/lock';

class Patient {
  @Scheduled('0 3 * * *', { timeZone: 'UTC', missedExecutionTolerance: 600_000 })
  @SchedulerLock('patient', '1m')
  async job(): Promise<void> {}
}

const complaints: string[] = [];
let guard: JobGuard;

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: new Date('2026-11-20T02:59:59Z') });
  const complain = (message: string | Error): void => void complaints.push(String(message));
  setLogger({ info: complain, debug: complain, warn: complain, error: complain });
  guard = guardBench().guard;
});
afterEach(async () => {
  await guard.close();
  mock.timers.reset();
  complaints.length = 0;
});

/** Blocks the process while its tick is due. */
const standStill = (): void => mock.timers.tick(300_000);

void test('a method that is late within its tolerance runs for its scheduled time', async () => {
  scheduleJobs(new Patient(), { guard });
  const started = nextEvent(guard, 'run:started');
  standStill();
  assert.equal((await started).scheduledAt?.toISOString(), '2026-11-20T03:00:00.000Z');
  assert.deepEqual(complaints, []);
});

void test('a function that is late within its tolerance runs for its scheduled time', async () => {
  const options = { guard, timeZone: 'UTC', missedExecutionTolerance: 600_000 };
  scheduleLocked('0 3 * * *', JOB, () => {}, options);
  const started = nextEvent(guard, 'run:started');
  standStill();
  assert.equal((await started).scheduledAt?.toISOString(), '2026-11-20T03:00:00.000Z');
});
