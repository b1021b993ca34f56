import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OncePerDay, SchedulerLock, type OncePerOptions } from 'cronlatch';
import { weekdays } from 'cronlatch/calendar';
import { Scheduled, scheduleJobs, scheduleLocked } from 'cronlatch/node-cron';
import { useTestGuard } from 'cronlatch/testing';

/** The warnings of a guard that schedules such a job. */
async function warnings(expression: string, options: OncePerOptions): Promise<string[]> {
  class Jobs {
    @Scheduled(expression, { timeZone: 'Europe/Paris' })
    @SchedulerLock('close-day', '1m')
    @OncePerDay(options)
    async closeDay(): Promise<void> {}
  }
  const test = useTestGuard();
  const messages: string[] = [];
  test.guard.on('guard:warning', ({ message }) => void messages.push(message));
  scheduleJobs(new Jobs(), { guard: test.guard });
  const oncePer = { ...options, name: 'other', period: 'day' } as const;
  const timeZone = 'Europe/Paris';
  scheduleLocked(expression, { name: 'other', lockAtMostFor: '1m', oncePer }, () => {}, {
    guard: test.guard,
    timeZone,
  });
  await test.dispose();
  return messages;
}

void test('catch-up for dates on which the cron expression never fires causes a warning', async () => {
  for (const expression of ['0 3 * * 1-5', '0 3 1 * *', '0 3 * 6 *', '0 0 3 * * MON']) {
    const messages = await warnings(expression, { catchUp: 'all' });
    assert.equal(messages.length, 2, expression);
    assert.match(
      messages[0] ?? '',
      /^Job 'close-day' is scheduled at '.*', which skips some dates.*weekdays\(\)/,
    );
    assert.match(messages[1] ?? '', /^Job 'other' is scheduled/);
  }
});

void test('no warning if a calendar excludes the same dates, nothing is caught up with, or every date has a tick', async () => {
  assert.deepEqual(await warnings('0 3 * * 1-5', { catchUp: 'all', calendar: weekdays() }), []);
  assert.deepEqual(await warnings('0 3 * * 1-5', {}), []);
  assert.deepEqual(await warnings('0 3 * * *', { catchUp: 'latest' }), []);
});

void test('no warning for a week or longer, because one of its dates is enough', async () => {
  for (const period of ['week', 'month', 'quarter', 'year'] as const) {
    const messages: string[] = [];
    const { guard } = useTestGuard();
    guard.on('guard:warning', ({ message }) => void messages.push(message));
    const oncePer = { period, timeZone: 'UTC', catchUp: 'all' } as const;
    scheduleLocked('0 3 1 * *', { name: 'job', lockAtMostFor: '1m', oncePer }, () => {}, { guard });
    await guard.close();
    assert.deepEqual(messages, [], period);
  }
});

void test('no warning for a job with custom period keys, whose dates are unknown', async () => {
  const messages: string[] = [];
  const { guard } = useTestGuard();
  guard.on('guard:warning', ({ message }) => void messages.push(message));
  const oncePer = { period: (at: Date) => at.toISOString(), timeZone: 'UTC', catchUp: 'all' } as const;
  scheduleLocked('0 3 * * 1', { name: 'job', lockAtMostFor: '1m', oncePer }, () => {}, { guard });
  await guard.close();
  assert.deepEqual(messages, []);
});
