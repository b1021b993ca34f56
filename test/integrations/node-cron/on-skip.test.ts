import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { JobSkippedError, SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { setLogger } from 'node-cron';
import { guardBench } from '../../support/benches/guard';
import { turn } from '../../support/benches/lock';

class Jobs {
  @Scheduled('0 3 * * *', { timeZone: 'UTC' })
  @SchedulerLock({ name: 'export-orders', lockAtMostFor: '1h', onSkip: 'throw' })
  async exportOrders(): Promise<number> {
    return await Promise.resolve(3);
  }
}

const complaints: string[] = [];
beforeEach(() => {
  complaints.length = 0;
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: new Date('2026-11-20T02:59:59Z') });
  const complain = (message: string | Error): void => void complaints.push(String(message));
  setLogger({ info: complain, debug: complain, warn: complain, error: complain });
});
afterEach(() => mock.timers.reset());

void test("a skipped tick of a method with onSkip 'throw' is not a failure for node-cron, but a skipped call rejects", async () => {
  const { guard, other, names } = guardBench();
  const jobs = new Jobs();
  const [task] = scheduleJobs(jobs, { guard });
  const failures: unknown[] = [];
  task?.on('execution:failed', (context) => void failures.push(context));
  await other.lock({ name: 'export-orders', lockAtMostFor: '1h' });
  mock.timers.tick(1000);
  for (let turns = 0; turns < 20; turns += 1) await turn();
  assert.deepEqual([names(), failures, complaints], [['lock:skipped'], [], []]);
  await assert.rejects(jobs.exportOrders(), JobSkippedError);
  await guard.close();
});
