import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { currentRun, OncePerDay, SchedulerLock } from 'cronlatch';
import { createJobGuard, Memory } from 'cronlatch/memory';
import { SettableClock } from 'cronlatch/testing';
import { turn } from '../../support/benches/lock';
import { beginAt } from '../../support/clocks/mocked-ticks';
import { startWith } from './application';

/** The runs: instants for the job that only has a lock, days for the other one. */
const ticks: (string | undefined)[] = [];
const days: string[] = [];

@Injectable()
class InTheGap {
  @Cron('30 2 * * *', { timeZone: 'Europe/Paris' })
  @SchedulerLock('paris', '1m')
  @OncePerDay()
  async paris(): Promise<void> {
    await Promise.resolve(days.push(`Paris ${currentRun().periodKey}`));
  }

  @Cron('30 2 * * *', { timeZone: 'America/New_York' })
  @SchedulerLock('new-york', '1m')
  @OncePerDay()
  async newYork(): Promise<void> {
    await Promise.resolve(days.push(`New York ${currentRun().periodKey}`));
  }
}

@Injectable()
class AfterTheFold {
  @Cron('0 3 * * *', { timeZone: 'Europe/Paris' })
  @SchedulerLock('locked', '1m')
  async locked(): Promise<void> {}

  @Cron('0 3 * * *', { timeZone: 'Europe/Paris' })
  @SchedulerLock('once', '1m')
  @OncePerDay()
  async once(): Promise<void> {
    await Promise.resolve(days.push(currentRun().periodKey));
  }
}

/** Keeps an application running for some days after `from`, in steps of ten minutes. */
async function live(
  Jobs: typeof InTheGap | typeof AfterTheFold,
  from: string,
  lastDays: number,
): Promise<void> {
  [ticks.length, days.length] = [0, 0];
  const clock = new SettableClock(from);
  const guard = createJobGuard(new Memory({ clock }), { pollInterval: false, logger: false });
  beginAt(from);
  guard.on('run:completed', ({ name, scheduledAt }) => {
    if (name === 'locked') ticks.push(scheduledAt?.toISOString());
  });
  try {
    const app = await startWith(guard, [Jobs]);
    for (let i = 0; i < lastDays * 24 * 6; i += 1) {
      clock.advance('10m');
      mock.timers.tick(600_000);
      for (let j = 0; j < 10; j += 1) await turn();
    }
    await app.close();
  } finally {
    mock.timers.reset();
  }
}

void test('a daily time inside a spring gap fires at the clock change, and its day has its run (L-37)', async () => {
  await live(InTheGap, '2026-03-28T12:00:00Z', 2);
  assert.deepEqual(
    days.filter((day) => day.startsWith('Paris')),
    ['Paris 2026-03-29', 'Paris 2026-03-30'],
  );
  await live(InTheGap, '2026-03-07T12:00:00Z', 2);
  assert.deepEqual(
    days.filter((day) => day.startsWith('New York')),
    ['New York 2026-03-08', 'New York 2026-03-09'],
  );
});

void test('in the hour after a repeated hour cron fires twice: a job with a lock runs twice, a once-per-day job once (L-38)', async () => {
  await live(AfterTheFold, '2026-10-24T12:00:00Z', 1);
  assert.deepEqual(ticks, ['2026-10-25T01:00:00.000Z', '2026-10-25T02:00:00.000Z']);
  assert.deepEqual(days, ['2026-10-25']);
});
