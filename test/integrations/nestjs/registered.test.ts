import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Injectable } from '@nestjs/common';
import { Cron, Interval } from '@nestjs/schedule';
import { OncePerDay, SchedulerLock } from 'cronlatch';
import { hostTimeZone } from '#cronlatch/core/clock';
import { guardOfRuns } from '../../support/benches/guard-of-runs';
import { startWith } from './application';
import { operations } from 'cronlatch/operations';

@Injectable()
class Jobs {
  @Cron('0 3 * * *', { timeZone: 'Europe/Paris' })
  @OncePerDay({ name: 'close-day' })
  async closeDay(): Promise<void> {}

  @Cron('0 3 * * *', { name: 'off', disabled: true, timeZone: 'Europe/Paris' })
  @SchedulerLock('off', '1m')
  async off(): Promise<void> {}

  @Cron('*/10 * * * *')
  @SchedulerLock('host zone', '1m')
  async inZoneOfHost(): Promise<void> {}

  @Cron('*/20 * * * *', { utcOffset: 60 })
  @SchedulerLock('offset', '1m')
  async atOffset(): Promise<void> {}

  @Interval(60_000)
  @SchedulerLock({ name: 'interval', lockAtMostFor: '1m', lockAtLeastFor: '50s' })
  async interval(): Promise<void> {}

  @SchedulerLock('by hand', '1m')
  async byHand(): Promise<void> {}
}

void test('the jobs of an application are registered, with the schedules of @Cron and @Interval', async () => {
  const { guard, clock } = guardOfRuns({ defaultLockAtMostFor: '10m' });
  clock.advance(Date.parse('2026-11-20T12:00:00Z') - clock.wallMs());
  const app = await startWith(guard, [Jobs]);
  try {
    await guard.runOverdue();
    const jobs = (await guard.ledger.jobs()).map(({ job, declared }) => [
      job,
      declared.kind,
      declared.schedules,
    ]);
    const cron = (expression: string, timeZone: string) => [{ expression, timeZone, dialect: 'cron' }];
    assert.deepEqual(jobs, [
      ['close-day', 'day', cron('0 3 * * *', 'Europe/Paris')],
      ['host zone', 'lock', cron('*/10 * * * *', hostTimeZone())],
      ['interval', 'lock', [{ every: 60_000 }]],
      ['off', 'lock', [{ every: 0 }]],
      ['offset', 'lock', cron('*/20 * * * *', '+01:00')],
    ]);
    const next = (await operations(guard).overview()).jobs.map(({ job, nextScheduledAt }) => [
      job,
      nextScheduledAt,
    ]);
    assert.deepEqual(new Map(next as [string, Date][]).get('close-day'), new Date('2026-11-21T02:00:00Z'));
  } finally {
    await app.close();
  }
});
