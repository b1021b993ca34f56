import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleDistributed, scheduleJobs, scheduleLocked } from 'cronlatch/node-cron';
import { hostTimeZone } from '#cronlatch/core/clock';
import { guardOfRuns } from '../../support/benches/guard-of-runs';

const PARIS = 'Europe/Paris';

class Jobs {
  @Scheduled('0 3 * * *', { timeZone: PARIS })
  @Scheduled('0 15 * * *', { timeZone: PARIS })
  @SchedulerLock({ name: 'twice', lockAtMostFor: '10m' })
  async twice(): Promise<void> {}
}

void test('scheduled jobs are registered, each with its schedules', async () => {
  const { guard } = guardOfRuns();
  scheduleJobs(new Jobs(), { guard });
  scheduleLocked('0 4 * * *', { name: 'plain', lockAtMostFor: '1m' }, () => {}, { guard, timeZone: 'UTC' });
  scheduleDistributed('0 5 * * *', () => {}, { guard, name: 'elected' });
  try {
    await guard.runOverdue();
    const jobs = await guard.ledger.jobs();
    const cron = (expression: string, timeZone: string) => ({ expression, timeZone, dialect: 'node-cron' });
    assert.deepEqual(
      jobs.map(({ job, declared }) => [job, declared.kind, declared.schedules]),
      [
        ['elected', 'tick', [cron('0 5 * * *', hostTimeZone())]],
        ['plain', 'lock', [cron('0 4 * * *', 'UTC')]],
        ['twice', 'lock', [cron('0 15 * * *', PARIS), cron('0 3 * * *', PARIS)]],
      ],
    );
  } finally {
    await guard.close();
  }
});
