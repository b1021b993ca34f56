import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SchedulerLock, type CronlatchEvents } from 'cronlatch';
import { Scheduled, scheduleJobs, scheduleLocked } from 'cronlatch/node-cron';
import { setLogger } from 'node-cron';
import { guardBench, nextEvent } from '../../support/benches/guard';
import { refusedConnection } from '../../support/faults/accessor';

/** The errors that node-cron itself reports, without ticks that it missed on a busy machine. */
const complaints: unknown[] = [];
setLogger({
  info: () => {},
  debug: () => {},
  warn: () => {},
  error: (message) => void complaints.push(message),
});

class EverySecond {
  ticks = 0;

  @Scheduled('* * * * * *', { timeZone: 'America/St_Johns' })
  @SchedulerLock('every second', '1m', 0)
  async job(): Promise<void> {
    this.ticks += 1;
    await Promise.resolve();
  }
}

class Failing {
  @Scheduled('* * * * * *')
  @SchedulerLock('failing', '1m', 0)
  async job(): Promise<void> {
    await Promise.reject(new Error('every second'));
  }
}

// Each waits for real ticks, which come once a second, so they all run concurrently.
void describe('real ticks', { concurrency: true }, () => {
  void test('the scheduled time is in the events, in every time zone', async () => {
    const { guard } = guardBench();
    scheduleJobs(new EverySecond(), { guard });
    const before = Date.now();
    const { scheduledAt } = await nextEvent(guard, 'run:started');
    const completed = await nextEvent(guard, 'run:completed');
    await guard.close();
    assert.ok(scheduledAt !== undefined && scheduledAt.getTime() % 1000 === 0);
    assert.ok(before - 1000 <= scheduledAt.getTime() && scheduledAt.getTime() <= Date.now());
    assert.equal(completed.scheduledAt, scheduledAt);
  });

  for (const what of ['method', 'function'])
    void test(`a ${what} that throws at every tick is reported once per tick, and later ticks follow`, async () => {
      const { guard, lines } = guardBench();
      const lock = { name: 'function', lockAtMostFor: '1m', lockAtLeastFor: 0 };
      if (what === 'method') scheduleJobs(new Failing(), { guard });
      else scheduleLocked('* * * * * *', lock, () => Promise.reject(new Error('every second')), { guard });
      const failures = [await nextEvent(guard, 'run:failed'), await nextEvent(guard, 'run:failed')];
      await guard.close();
      assert.equal(new Set(failures.map(({ scheduledAt }) => scheduledAt?.getTime())).size, 2);
      assert.equal(lines.length, 2);
    });

  void test('while the store is down each tick is a lock:failed, and the job runs when the store is up again', async () => {
    const { guard, accessor, emitted } = guardBench();
    accessor.fail('updateRecord', refusedConnection, refusedConnection);
    const jobs = new EverySecond();
    scheduleJobs(jobs, { guard });
    const failures = [await nextEvent(guard, 'lock:failed'), await nextEvent(guard, 'lock:failed')];
    assert.equal(jobs.ticks, 0);
    await nextEvent(guard, 'run:completed');
    await guard.close();
    assert.equal(jobs.ticks, 1);
    for (const { scheduledAt } of failures) assert.ok(scheduledAt instanceof Date);
    assert.equal(emitted.filter(([name]) => name === 'lock:failed').length, 2);
  });

  void test('a tick that comes while the job still runs is skipped as running-here (F-89)', async () => {
    const { guard } = guardBench();
    let finish = (): void => {};
    const end = new Promise<void>((resolve) => (finish = resolve));
    const configuration = { name: 'slow', lockAtMostFor: '1m' };
    scheduleLocked('* * * * * *', configuration, async () => await end, { guard });
    const started = await nextEvent(guard, 'run:started');
    const skipped: CronlatchEvents['lock:skipped'] = await nextEvent(guard, 'lock:skipped');
    assert.equal(skipped.reason, 'running-here');
    assert.notEqual(skipped.scheduledAt?.getTime(), started.scheduledAt?.getTime());
    finish();
    await guard.close();
  });
});

void test('node-cron itself reported no error in these tests', () => {
  assert.deepEqual(complaints, []);
});
