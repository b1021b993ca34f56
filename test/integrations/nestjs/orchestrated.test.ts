import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { Inject, Injectable } from '@nestjs/common';
import { Cron, SchedulerRegistry } from '@nestjs/schedule';
import { currentRun, OncePerDay, SchedulerLock } from 'cronlatch';
import { CronJob } from 'cron';
import { guardBench } from '../../support/benches/guard';
import { guardOfRuns } from '../../support/benches/guard-of-runs';
import { beginAt, pass } from '../../support/clocks/mocked-ticks';
import { RecordingLogger, startWith } from './application';

const NOT_CLOSED = new Error('the day could not be closed');

/** The steps in the order in which they ran. */
const done: string[] = [];

@Injectable()
class Steps {
  @SchedulerLock('close', '1m')
  async close(): Promise<void> {
    done.push('close');
    await Promise.reject(NOT_CLOSED);
  }

  @SchedulerLock('pay', '1m')
  async pay(): Promise<void> {
    await Promise.resolve(done.push('pay'));
  }
}

/** A schedule without its own lock, whose steps have one each. */
@Injectable()
class Night {
  constructor(@Inject(Steps) private readonly steps: Steps) {}

  @Cron('0 3 * * *', { timeZone: 'UTC' })
  async run(): Promise<void> {
    await this.steps.close();
    await this.steps.pay();
  }
}

beforeEach(() => {
  done.length = 0;
  beginAt('2026-11-20T02:59:00Z');
});
afterEach(() => mock.timers.reset());

const minutes = (count: number): Promise<void> => pass(count * 60_000);

void test('a handler that calls several guarded methods gets their errors, and does not continue', async () => {
  const { guard } = guardBench();
  const logger = new RecordingLogger();
  const app = await startWith(guard, [Steps, Night], logger);
  await minutes(2);
  await app.close();
  assert.deepEqual(done, ['close']);
  assert.deepEqual(logger.lines, ['error [Scheduler] Error: the day could not be closed']);
});

void test('the function of a job that was added to the registry gets the errors of the guarded methods that it calls', async () => {
  const { guard } = guardBench();
  const app = await startWith(guard, [Steps]);
  const steps = app.get(Steps);
  const heard: unknown[] = [];
  const job = CronJob.from({
    cronTime: '0 3 * * *',
    timeZone: 'UTC',
    onTick: async () => {
      await steps.close();
      await steps.pay();
    },
    errorHandler: (error) => void heard.push(error),
    start: true,
  });
  app.get(SchedulerRegistry).addCronJob('night', job);
  await minutes(2);
  await app.close();
  assert.deepEqual(done, ['close']);
  assert.deepEqual(heard, [NOT_CLOSED]);
});

/** Each region is a step of its own, however long the earlier ones take. */
@Injectable()
class Regions {
  @Cron('59 23 * * *', { timeZone: 'UTC' })
  async closeAll(): Promise<void> {
    for (const region of ['eu', 'us']) {
      await this.close(region);
      await new Promise<void>((resolve) => setTimeout(resolve, 120_000));
    }
  }

  @OncePerDay({ timeZone: 'UTC', scope: (region: string) => region, resume: (run) => [run.scope] })
  @SchedulerLock('regions', '1m')
  async close(region: string): Promise<void> {
    await Promise.resolve(done.push(`${region} ${currentRun().scheduledAt?.toISOString()}`));
  }
}

void test('each scope that a handler calls in turn counts for the scheduled time of its tick', async () => {
  const { guard } = guardOfRuns();
  mock.timers.setTime(Date.parse('2026-11-20T23:58:30Z'));
  const app = await startWith(guard, [Regions]);
  await minutes(1);
  await minutes(3);
  await app.close();
  assert.deepEqual(done, ['eu 2026-11-20T23:59:00.000Z', 'us 2026-11-20T23:59:00.000Z']);
});
