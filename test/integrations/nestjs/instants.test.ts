import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { Injectable } from '@nestjs/common';
import { Cron, SchedulerRegistry } from '@nestjs/schedule';
import type { TestingModule } from '@nestjs/testing';
import { SchedulerLock, type CronlatchEvents, type JobGuard } from 'cronlatch';
import { CronJob, CronTime } from 'cron';
import { guardBench, nextEvent } from '../../support/benches/guard';
import { beginAt, pass, settled } from '../../support/clocks/mocked-ticks';
import { RecordingLogger, startWith } from './application';

@Injectable()
class Jobs {
  @Cron('55 23 * * *', { name: 'daily', timeZone: 'UTC' })
  @SchedulerLock('daily', '1m')
  async daily(): Promise<void> {}

  @SchedulerLock('offset', '1m')
  @Cron('0 0 6 * * *', { utcOffset: 345 })
  async offset(): Promise<void> {}

  @Cron(new Date('2026-11-20T23:57:00Z'))
  @SchedulerLock('once', '1m')
  async once(): Promise<void> {}

  @SchedulerLock('by hand', '1m')
  async byHand(): Promise<void> {}
}

const started: CronlatchEvents['run:started'][] = [];
let guard: JobGuard;
let app: TestingModule;
let registry: SchedulerRegistry;
const logger = new RecordingLogger();

beforeEach(async () => {
  beginAt('2026-11-20T23:54:00Z');
  guard = guardBench().guard;
  guard.on('run:started', (event) => void started.push(event));
  app = await startWith(guard, [Jobs], logger);
  registry = app.get(SchedulerRegistry);
});
afterEach(async () => {
  await app.close();
  mock.timers.reset();
  started.length = 0;
  logger.lines.length = 0;
});

/** Blocks the process for this time. */
const standStill = (minutes: number): Promise<void> => pass(minutes * 60_000);

const scheduledTimesOf = (name: string): (string | undefined)[] =>
  started.filter((event) => event.name === name).map(({ scheduledAt }) => scheduledAt?.toISOString());

void test('a tick that comes 9 minutes late, after midnight, gets its scheduled time (L-45)', async () => {
  await standStill(10);
  assert.deepEqual(scheduledTimesOf('daily'), ['2026-11-20T23:55:00.000Z']);
});

void test('a process that was blocked for days runs once, for the last scheduled time that has passed', async () => {
  await standStill(3 * 24 * 60);
  assert.deepEqual(scheduledTimesOf('daily'), ['2026-11-22T23:55:00.000Z']);
});

void test('ticks in a zone given as an offset from UTC, and a date at which a job runs once, get their scheduled times', async () => {
  await standStill(30);
  assert.deepEqual(
    [scheduledTimesOf('offset'), scheduledTimesOf('once')],
    [['2026-11-21T00:15:00.000Z'], ['2026-11-20T23:57:00.000Z']],
  );
});

void test('a manual call has no scheduled time, and neither does a tick that is fired by hand', async () => {
  await standStill(10);
  await app.get(Jobs).byHand();
  await app.get(Jobs).daily();
  await registry.getCronJob('daily').fireOnTick();
  await settled();
  assert.deepEqual(scheduledTimesOf('by hand'), [undefined]);
  assert.deepEqual(scheduledTimesOf('daily'), ['2026-11-20T23:55:00.000Z', undefined, undefined]);
});

void test('a job that is added later gets its scheduled times as well', async () => {
  const jobs = app.get(Jobs);
  const job = CronJob.from({ cronTime: '0 */10 * * * *', onTick: () => jobs.byHand(), timeZone: 'UTC' });
  registry.addCronJob('later', job);
  job.start();
  await standStill(7);
  assert.deepEqual(scheduledTimesOf('by hand'), ['2026-11-21T00:00:00.000Z']);
});

void test('a tick that starts before the earlier one has called its method keeps its own scheduled time', async () => {
  const jobs = app.get(Jobs);
  const job = CronJob.from({ cronTime: '* * * * * *', onTick: () => jobs.byHand(), timeZone: 'UTC' });
  registry.addCronJob('behind', job);
  // As for a job that is late by a few milliseconds.
  job.lastExecution = new Date('2026-11-20T23:54:01.995Z');
  job.lastExecution = new Date('2026-11-20T23:54:02.005Z');
  await job.fireOnTick();
  await settled();
  await job.fireOnTick();
  await settled();
  assert.deepEqual(scheduledTimesOf('by hand'), ['2026-11-20T23:54:02.000Z', '2026-11-20T23:54:01.000Z']);
  assert.equal(job.lastDate()?.toISOString(), '2026-11-20T23:54:02.005Z');
});

void test('a job that was stopped, or whose time was changed, continues with its new schedule', async () => {
  const job = registry.getCronJob('daily');
  await job.stop();
  await standStill(60 * 24);
  assert.deepEqual(scheduledTimesOf('daily'), []);
  job.setTime(new CronTime('30 * * * *', 'Asia/Kathmandu'));
  job.start();
  await standStill(60);
  // Kathmandu is 5:45 ahead of UTC.
  assert.deepEqual(scheduledTimesOf('daily'), ['2026-11-22T00:45:00.000Z']);
});

void test('a job with waitForCompletion has one run at a time', async () => {
  let finish = (): void => {};
  const end = new Promise<void>((resolve) => (finish = resolve));
  const slow = guard.wrap({ name: 'slow', lockAtMostFor: '1m' }, () => end);
  const onTick = (): Promise<void> => slow();
  const job = CronJob.from({ cronTime: '* * * * *', onTick, waitForCompletion: true, timeZone: 'UTC' });
  registry.addCronJob('slow', job);
  job.start();
  const skips: unknown[] = [];
  guard.on('lock:skipped', ({ name }) => void skips.push(name));
  const begun = nextEvent(guard, 'run:started');
  await standStill(0.5);
  await standStill(1);
  await begun;
  await standStill(1);
  finish();
  await settled();
  await standStill(1);
  assert.equal(scheduledTimesOf('slow').length, 2);
  assert.deepEqual(skips, []);
});

void test('none of these tests caused a warning', () => {
  assert.deepEqual(logger.lines, []);
});
