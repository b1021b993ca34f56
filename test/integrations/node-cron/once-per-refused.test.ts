import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { OncePerDay, SchedulerLock, type GuardConfiguration } from 'cronlatch';
import { Scheduled, scheduleJobs, scheduleLocked } from 'cronlatch/node-cron';
import { getTasks } from 'node-cron';
import { guardBench } from '../../support/benches/guard';
import { DAILY, guardOfRuns } from '../../support/benches/guard-of-runs';

const AT_THREE = '0 3 * * *';
const UTC = { timeZone: 'UTC' };

class Good {
  @Scheduled(AT_THREE)
  @OncePerDay({ ...UTC, name: 'daily' })
  @SchedulerLock('good', '1m')
  async job(): Promise<void> {}
}

class SameName {
  @Scheduled(AT_THREE)
  @OncePerDay({ ...UTC, name: 'daily' })
  @SchedulerLock('another', '1m')
  async job(): Promise<void> {}
}

class Nameless {
  @Scheduled(AT_THREE)
  @OncePerDay(UTC)
  async job(): Promise<void> {}
}

class SharedLock {
  @Scheduled(AT_THREE)
  @OncePerDay(UTC)
  @SchedulerLock({ name: 'shared', lockAtMostFor: '1m', shared: true })
  async job(): Promise<void> {}
}

class WithoutDefault {
  @Scheduled(AT_THREE)
  @OncePerDay({ ...UTC, name: 'without-default' })
  async job(): Promise<void> {}
}

const good = new Good();

const REFUSED: [string, object, RegExp][] = [
  [
    'two jobs with one name (L-59)',
    new SameName(),
    /^Two once-per jobs have the name 'daily': Good\.job and SameName\.job/,
  ],
  [
    'a job without a name (L-59)',
    new Nameless(),
    /^Method 'job' runs once per period, but its job has no name/,
  ],
  [
    'a job without a name under a shared lock (L-59)',
    new SharedLock(),
    /shared lock 'shared' needs a name of its own/,
  ],
  [
    'a job without a lock duration, if the guard has no default (L-59)',
    new WithoutDefault(),
    /^lockAtMostFor of lock 'without-default' is missing/,
  ],
];

afterEach(() => assert.equal(getTasks().size, 0));

for (const [what, instance, message] of REFUSED) {
  void test(`${what} is rejected, and no task is left`, async () => {
    const { guard } = guardOfRuns();
    assert.throws(() => scheduleJobs([good, instance], { guard }), {
      name: 'InvalidLockConfigurationError',
      message,
    });
    assert.equal(getTasks().size, 0);
    // The attempt leaves nothing behind: a valid job can still be scheduled.
    assert.equal(scheduleJobs(good, { guard }).length, 1);
    await guard.close();
  });
}

void test('a once-per job needs a guard with a ledger', () => {
  assert.throws(
    () => scheduleJobs(good, { guard: guardBench().guard }),
    /Job 'daily' needs a ledger, but this guard has only locks/,
  );
});

void test('scheduleLocked rejects the name of another once-per job, and leaves its lock unchanged', async () => {
  const { guard } = guardOfRuns();
  scheduleJobs(good, { guard });
  const named = (name: string): GuardConfiguration => ({
    ...DAILY,
    name: 'free',
    oncePer: { ...DAILY.oncePer, name },
  });
  const schedule = (name: string): unknown => scheduleLocked(AT_THREE, named(name), () => {}, { guard });
  assert.throws(
    () => schedule('daily'),
    /^InvalidLockConfigurationError: Two once-per jobs have the name 'daily'/,
  );
  assert.doesNotThrow(() => schedule('nightly'));
  await guard.close();
});

void test('scheduleLocked rejects a job without a time zone, and takes the zone of the schedule', async () => {
  const { guard } = guardOfRuns();
  const configuration: GuardConfiguration = { ...DAILY, oncePer: { period: 'day' } };
  assert.throws(
    () => scheduleLocked(AT_THREE, configuration, () => {}, { guard }),
    /Job 'close-day' needs a timeZone/,
  );
  const task = scheduleLocked(AT_THREE, configuration, () => 'ran', { guard, timeZone: 'America/Lima' });
  assert.equal(await task.execute(), 'ran');
  assert.equal((await guard.ledger.last('close-day'))?.periodKey, '2026-11-19');
  assert.equal(await task.execute(), undefined);
  await guard.close();
});
