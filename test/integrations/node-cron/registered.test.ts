import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleDistributed, scheduleJobs, scheduleLocked } from 'cronlatch/node-cron';
import { nextTimeOf } from '#cronlatch/integrations/node-cron/cron-schedule';
import { createTask } from 'node-cron';
import { guardOfRuns } from '../../support/benches/guard-of-runs';

const HOUR_MS = 3_600_000;
const PARIS = 'Europe/Paris';

class Jobs {
  @Scheduled('0 3 * * *', { timeZone: PARIS })
  @Scheduled('0 15 * * *', { timeZone: PARIS })
  @SchedulerLock({ name: 'twice', lockAtMostFor: '10m' })
  async twice(): Promise<void> {}
}

const PAST = [
  { expression: '0 * * * *', timeZone: 'UTC', hours: 36 },
  { expression: '0 3 * * *', timeZone: PARIS, hours: 100 },
  { expression: '30 2 * * *', timeZone: 'Asia/Kathmandu', hours: 100 },
  { expression: '15 0 */6 * * *', timeZone: undefined, hours: 36 },
  { expression: '*/20 * * * * *', timeZone: 'UTC', hours: 1 },
];

for (const { expression, timeZone, hours } of PAST) {
  void test(`the scheduled times of '${expression}' are found one after the other, up to the next one`, (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-11-20T03:07:11Z') });
    const task = createTask(
      expression,
      () => undefined,
      timeZone === undefined ? {} : { timezone: timeZone },
    );
    const nextAfter = nextTimeOf([{ expression, timeZone }]);
    const now = Date.now();
    let at = new Date(now - hours * HOUR_MS);
    let found = 0;
    for (; at.getTime() <= now; found += 1) {
      const next = nextAfter(at);
      assert.ok(next && next > at && task.match(next), next?.toISOString());
      at = next;
    }
    assert.deepEqual(at, task.getNextRuns(1)[0]);
    void task.destroy();
    const perHour = {
      '0 * * * *': 1,
      '0 3 * * *': 1 / 24,
      '30 2 * * *': 1 / 24,
      '15 0 */6 * * *': 1 / 6,
      '*/20 * * * * *': 180,
    };
    assert.ok(Math.abs(found - hours * perHour[expression as keyof typeof perHour]) <= 2, `${found}`);
  });
}

void test('the next time of a yearly schedule is found without a look at each minute before it', (t) => {
  const expression = '0 0 1 1 *';
  const task = createTask(expression, () => undefined, { timezone: PARIS });
  const { mock } = t.mock.method(Object.getPrototypeOf(task) as typeof task, 'match');
  const next = nextTimeOf([{ expression, timeZone: PARIS }])(new Date(Date.now() - 7 * 24 * HOUR_MS));
  assert.ok(next);
  assert.ok(mock.callCount() <= 1000, `${mock.callCount()} looks`);
  void task.destroy();
});

void test('scheduled jobs are registered, each with the next of its times', async () => {
  const { guard } = guardOfRuns();
  scheduleJobs(new Jobs(), { guard });
  scheduleLocked('0 4 * * *', { name: 'plain', lockAtMostFor: '1m' }, () => {}, { guard, timeZone: 'UTC' });
  scheduleDistributed('0 5 * * *', () => {}, { guard, name: 'elected' });
  try {
    await guard.runOverdue();
    const jobs = await guard.ledger.jobs();
    assert.deepEqual(
      jobs.map(({ job, declared }) => [job, declared.kind, declared.schedules]),
      [
        ['elected', 'tick', [{ expression: '0 5 * * *' }]],
        ['plain', 'lock', [{ expression: '0 4 * * *', timeZone: 'UTC' }]],
        ['twice', 'lock', ['0 15 * * *', '0 3 * * *'].map((expression) => ({ expression, timeZone: PARIS }))],
      ],
    );
  } finally {
    await guard.close();
  }
});
