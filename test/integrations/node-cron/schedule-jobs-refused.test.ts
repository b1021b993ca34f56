import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { getTasks } from 'node-cron';
import { guardBench } from '../../support/benches/guard';

class Good {
  @Scheduled('0 3 * * *')
  @SchedulerLock('good', '1m')
  async job(): Promise<void> {}
}

class Unguarded {
  @Scheduled('0 3 * * *')
  async job(): Promise<void> {}
}

class Unscheduled {
  @SchedulerLock('unscheduled', '1m')
  async job(): Promise<void> {}
}

class NoDuration {
  @Scheduled('0 3 * * *')
  @SchedulerLock('no-duration')
  async job(): Promise<void> {}
}

class LongName {
  @Scheduled('0 3 * * *')
  @SchedulerLock({ name: 'n'.repeat(65), lockAtMostFor: '1m', nameLength: 65 })
  async job(): Promise<void> {}
}

class SameName {
  @Scheduled('0 3 * * *')
  @SchedulerLock({ name: 'good', lockAtMostFor: '1m', shared: true })
  async another(): Promise<void> {}
}

const SHARED = { name: 'shared', lockAtMostFor: '1m', shared: true };
class Shared {
  @Scheduled('0 3 * * *')
  @SchedulerLock(SHARED)
  async first(): Promise<void> {}

  @Scheduled('0 4 * * *')
  @SchedulerLock(SHARED)
  async second(): Promise<void> {}
}

const good = new Good();
const shared = new Shared();

const REFUSED: [string, object[], RegExp][] = [
  [
    'a method without a lock',
    [good, new Unguarded()],
    /^InvalidLockUseError: Unguarded\.job has @Scheduled but neither @SchedulerLock nor @OncePer/,
  ],
  [
    'an instance without scheduled methods',
    [good, new Unscheduled()],
    /^InvalidLockUseError: Unscheduled has no method with @Scheduled/,
  ],
  [
    'an object without a class',
    [good, Object.create(null) as object],
    /^InvalidLockUseError: Object has no method with @Scheduled/,
  ],
  [
    'a class whose scheduled method is on its instances',
    [good, Good],
    /^InvalidLockUseError: Good has no method with @Scheduled/,
  ],
  [
    'a method whose lock has no duration',
    [good, new NoDuration()],
    /^InvalidLockConfigurationError: lockAtMostFor of lock 'no-duration' is missing/,
  ],
  [
    'a name too long for the guard',
    [good, new LongName()],
    /^InvalidLockConfigurationError: .* has 65 characters, more than 64/,
  ],
  [
    'a name on two methods, unless both have shared: true',
    [good, new SameName()],
    /^InvalidLockConfigurationError: Lock 'good' is used by Good\.job and by SameName\.another/,
  ],
  [
    'two instances whose methods have the same lock',
    [good, new Good()],
    /^InvalidLockConfigurationError: Lock 'good' is used by Good\.job and by Good\.job/,
  ],
  ['an instance twice', [good, good], /^InvalidLockUseError: This Good is already scheduled/],
  [
    'an instance twice, even if its locks are shared',
    [shared, shared],
    /^InvalidLockUseError: This Shared is already scheduled/,
  ],
];

afterEach(() => assert.equal(getTasks().size, 0));

for (const [what, instances, error] of REFUSED) {
  void test(`${what} is rejected, and no task is left`, async () => {
    const { guard } = guardBench();
    assert.throws(() => scheduleJobs(instances, { guard }), error);
    assert.equal(getTasks().size, 0);
    // The attempt leaves nothing behind: a valid job can still be scheduled.
    assert.equal(scheduleJobs(good, { guard }).length, 1);
    await guard.close();
  });
}
