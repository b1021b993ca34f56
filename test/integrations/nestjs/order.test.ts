import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Cron, Interval, Timeout } from '@nestjs/schedule';
import { LockAssert, SchedulerLock, type CronlatchEvents } from 'cronlatch';
import { guardBench, nextEvent } from '../../support/benches/guard';
import { startWith } from './application';

/** The work of each method while its lock was held. */
const runs: string[] = [];

function work(name: string): Promise<void> {
  LockAssert.assertLocked(name);
  runs.push(name);
  return Promise.resolve();
}

class Above {
  @Cron('* * * * * *', { timeZone: 'Asia/Kathmandu' })
  @SchedulerLock('cron above', '1m')
  async cron(): Promise<void> {
    await work('cron above');
  }

  @Interval(1000)
  @SchedulerLock('interval above', '1m')
  async interval(): Promise<void> {
    await work('interval above');
  }

  @Timeout(0)
  @SchedulerLock('timeout above', '1m')
  async timeout(): Promise<void> {
    await work('timeout above');
  }
}

class Below {
  @SchedulerLock('cron below', '1m')
  @Cron('* * * * * *')
  async cron(): Promise<void> {
    await work('cron below');
  }

  @SchedulerLock('interval below', '1m')
  @Interval(1000)
  async interval(): Promise<void> {
    await work('interval below');
  }

  @SchedulerLock('timeout below', '1m')
  @Timeout(0)
  async timeout(): Promise<void> {
    await work('timeout below');
  }
}

void describe('real ticks of @nestjs/schedule', { concurrency: true }, () => {
  for (const Jobs of [Above, Below]) {
    const where = Jobs.name.toLowerCase();
    void test(`@Cron, @Interval and @Timeout ${where} @SchedulerLock: each tick runs once, under its lock (F-85)`, async () => {
      const { guard } = guardBench();
      const completed: CronlatchEvents['run:completed'][] = [];
      guard.on('run:completed', (event) => void completed.push(event));
      const of = (kind: string) => completed.filter(({ name }) => name === `${kind} ${where}`);
      const app = await startWith(guard, [Jobs]);
      while (of('cron').length < 3 || of('interval').length < 2) await nextEvent(guard, 'run:completed');
      await app.close();
      assert.equal(of('timeout').length, 1);
      const instants = of('cron').map(({ scheduledAt }) => scheduledAt?.getTime());
      assert.equal(new Set(instants).size, instants.length, 'one run for each instant');
      // A tick that is due while its job is being created has no scheduled time.
      const known = instants.filter((instant) => instant !== undefined);
      assert.ok(known.length >= instants.length - 1 && known.every((instant) => instant % 1000 === 0));
      assert.equal(runs.filter((name) => name.endsWith(where)).length, completed.length);
    });
  }
});
