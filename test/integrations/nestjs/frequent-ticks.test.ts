import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Injectable } from '@nestjs/common';
import { Cron, CronExpression, Interval } from '@nestjs/schedule';
import { SchedulerLock } from 'cronlatch';
import { guardBench } from '../../support/benches/guard';
import { startWith } from './application';

@Injectable()
class Jobs {
  @Cron(CronExpression.EVERY_5_SECONDS)
  @SchedulerLock('every-5-seconds', '1m')
  async every5Seconds(): Promise<void> {}

  @Interval(10_000)
  @SchedulerLock('every-10-seconds', '1m')
  async every10Seconds(): Promise<void> {}

  @SchedulerLock({ name: 'with-least', lockAtMostFor: '1m', lockAtLeastFor: '9s' })
  @Interval(10_000)
  async withLeast(): Promise<void> {}

  @Cron(CronExpression.EVERY_MINUTE)
  @SchedulerLock('every-minute', '1m')
  async everyMinute(): Promise<void> {}

  @Interval(60_000)
  @SchedulerLock('every-60-seconds', '1m')
  async every60Seconds(): Promise<void> {}
}

void test('jobs with @Cron or @Interval that tick more than once a minute without lockAtLeastFor cause warnings', async () => {
  const { guard } = guardBench();
  const messages: string[] = [];
  guard.on('guard:warning', ({ message }) => void messages.push(message));
  const app = await startWith(guard, [Jobs]);
  await app.close();
  assert.deepEqual(
    messages.map((message) => message.slice(0, message.indexOf(', which'))),
    [
      "Job 'every-5-seconds' is scheduled at '*/5 * * * * *'",
      "Job 'every-10-seconds' is scheduled every 10000 ms",
    ],
  );
});
