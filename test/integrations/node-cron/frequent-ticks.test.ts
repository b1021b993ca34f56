import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OncePerDay, SchedulerLock, type Duration } from 'cronlatch';
import { Scheduled, scheduleDistributed, scheduleJobs, scheduleLocked } from 'cronlatch/node-cron';
import { useTestGuard, type TestGuardOptions } from 'cronlatch/testing';

/** The warnings of a guard that schedules such a job, as a method and as a function. */
async function warnings(expression: string, lockAtLeastFor?: Duration, options?: TestGuardOptions) {
  class Jobs {
    @Scheduled(expression)
    @SchedulerLock({ name: 'poll', lockAtMostFor: '1m', lockAtLeastFor })
    async poll(): Promise<void> {}
  }
  await using bench = useTestGuard(options);
  const { guard } = bench;
  const messages: string[] = [];
  guard.on('guard:warning', ({ message }) => void messages.push(message));
  scheduleJobs(new Jobs(), { guard });
  scheduleLocked(expression, { name: 'other', lockAtMostFor: '1m', lockAtLeastFor }, () => {}, { guard });
  return messages;
}

void test('a job that ticks more than once a minute without lockAtLeastFor causes a warning', async () => {
  const messages = await warnings('*/5 * * * * *');
  assert.equal(messages.length, 2);
  assert.match(
    messages[0] ?? '',
    /^Job 'poll' is scheduled at '\*\/5 \* \* \* \* \*', which is more than once a minute, but has no lockAtLeastFor\./,
  );
  assert.match(messages[1] ?? '', /^Job 'other' is scheduled at '\*\/5 /);
});

void test('no warning for a job with lockAtLeastFor of its own, also 0, or of the guard', async () => {
  assert.deepEqual(await warnings('*/5 * * * * *', '4s'), []);
  assert.deepEqual(await warnings('*/5 * * * * *', 0), []);
  assert.deepEqual(await warnings('*/5 * * * * *', undefined, { defaultLockAtLeastFor: '4s' }), []);
});

void test('no warning for a job that ticks once a minute or less', async () => {
  for (const expression of ['* * * * *', '30 * * * * *', '0 3 * * *'])
    assert.deepEqual(await warnings(expression), [], expression);
});

void test('no warning for a once-per job and a distributed task, of which each tick is recorded', async () => {
  class Jobs {
    @Scheduled('*/5 * * * * *', { timeZone: 'UTC' })
    @SchedulerLock('close-day', '1m')
    @OncePerDay()
    async closeDay(): Promise<void> {}
  }
  await using bench = useTestGuard();
  const { guard } = bench;
  const messages: string[] = [];
  guard.on('guard:warning', ({ message }) => void messages.push(message));
  scheduleJobs(new Jobs(), { guard });
  scheduleDistributed('*/5 * * * * *', () => {}, { guard, name: 'settle' });
  assert.deepEqual(messages, []);
});
