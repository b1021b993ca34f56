import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Injectable } from '@nestjs/common';
import { Cron, Interval, SchedulerRegistry } from '@nestjs/schedule';
import { OncePerDay, SchedulerLock } from 'cronlatch';
import { guardOfRuns } from '../../support/benches/guard-of-runs';
import { startWith } from './application';

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

void test('the jobs of an application are registered, with the next times of @Cron once they are mounted', async () => {
  const { guard, clock } = guardOfRuns({ defaultLockAtMostFor: '10m' });
  clock.advance(Date.parse('2026-11-20T12:00:00Z') - clock.wallMs());
  const app = await startWith(guard, [Jobs]);
  try {
    await guard.runOverdue();
    const next = new Date('2026-11-21T02:00:00Z');
    const shown = async () =>
      (await guard.ledger.jobs()).map(({ job, declared, nextScheduledAt }) => [
        job,
        declared.kind,
        declared.schedules.map(({ expression, timeZone }) => `${expression} ${timeZone}`),
        nextScheduledAt,
      ]);
    const paris = ['0 3 * * * Europe/Paris'];
    assert.deepEqual(await shown(), [
      ['close-day', 'day', paris, next],
      ['host zone', 'lock', ['*/10 * * * * undefined'], new Date('2026-11-20T12:10:00Z')],
      ['interval', 'lock', [], undefined],
      ['off', 'lock', paris, undefined],
      ['offset', 'lock', ['*/20 * * * * undefined'], new Date('2026-11-20T12:20:00Z')],
    ]);
    app.get(SchedulerRegistry).getCronJob('off').start();
    await guard.runOverdue();
    assert.deepEqual((await shown())[3], ['off', 'lock', paris, next]);
  } finally {
    await app.close();
  }
});
