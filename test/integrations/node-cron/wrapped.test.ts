import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { configureJobGuard, currentRun, OncePerDay, SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { unguarded } from 'cronlatch/testing';
import { getTasks } from 'node-cron';
import { guardOfRuns, type GuardOfRuns } from '../../support/benches/guard-of-runs';
import { foreignDecorator } from '../../support/jobs/both-modes';

const AT_THREE = '0 3 * * *';
const TOKYO = { timeZone: 'Asia/Tokyo' };

let bench: GuardOfRuns;
// It is the next day in Tokyo already.
beforeEach(() => void (bench = guardOfRuns({ defaultTimeZone: 'America/Lima' })));
afterEach(async () => {
  configureJobGuard(undefined);
  await bench.guard.close();
  assert.equal(getTasks().size, 0);
});

/** A decorator of another library, which replaces the method by a function without anything of the method. */
const wrapped = foreignDecorator(
  (method) =>
    async function (this: unknown, ...args) {
      return await method.apply(this, args);
    },
);

const today = async (): Promise<string> => await Promise.resolve(currentRun().businessDate);

class BelowSchedule {
  @Scheduled(AT_THREE, TOKYO)
  @wrapped
  @SchedulerLock('below-schedule', '1m')
  @OncePerDay()
  async job(): Promise<string | undefined> {
    return await today();
  }
}

class AboveAll {
  @wrapped
  @OncePerDay()
  @Scheduled(AT_THREE, TOKYO)
  @SchedulerLock('above-all', '1m')
  async job(): Promise<string | undefined> {
    return await today();
  }
}

class BelowLock {
  @OncePerDay()
  @SchedulerLock('below-lock', '1m')
  @wrapped
  @Scheduled(AT_THREE, TOKYO)
  async job(): Promise<string | undefined> {
    return await today();
  }
}

class Everywhere {
  @wrapped
  @Scheduled(AT_THREE, TOKYO)
  @wrapped
  @SchedulerLock('everywhere', '1m')
  @OncePerDay()
  @wrapped
  async job(): Promise<string | undefined> {
    return await today();
  }
}

class Inherited extends Everywhere {}

const CLASSES = [BelowSchedule, AboveAll, BelowLock, Everywhere];

for (const Jobs of CLASSES) {
  void test(`a method with a foreign wrapper is scheduled, and its day is in the zone of its schedule: ${Jobs.name}`, async () => {
    configureJobGuard(bench.guard);
    const tasks = scheduleJobs(new Jobs(), { guard: bench.guard });
    assert.equal(tasks.length, 1);
    assert.equal(await tasks[0]?.execute(), '2026-11-20');
    assert.equal(await tasks[0]?.execute(), undefined, 'once per day');
  });
}

void test('an inherited method with a foreign wrapper is scheduled, but not below an override', () => {
  class Overriding extends Everywhere {
    override async job(): Promise<undefined> {}

    @Scheduled('0 4 * * *')
    @SchedulerLock('overriding', '1m')
    async other(): Promise<void> {}
  }
  const described = (instance: object): string[] =>
    scheduleJobs(instance, { guard: bench.guard }).map((task) => String(task.name));
  assert.deepEqual(described(new Inherited()), ['Inherited.job']);
  assert.deepEqual(described(new Overriding()), ['Overriding.other']);
});

void test('schedules on both sides of a foreign wrapper all have a task', () => {
  class Jobs {
    @Scheduled('0 4 * * *')
    @wrapped
    @Scheduled('0 5 * * *')
    @SchedulerLock('both-sides', '1m')
    async job(): Promise<void> {}
  }
  const tasks = scheduleJobs(new Jobs(), { guard: bench.guard });
  assert.deepEqual(tasks.map((task) => task.getPattern()).sort(), ['0 4 * * *', '0 5 * * *']);
});

void test('unguarded() finds the handler below a foreign wrapper', async () => {
  class Jobs {
    @wrapped
    @SchedulerLock('hidden', '1m')
    async job(): Promise<string | undefined> {
      return await Promise.resolve('done');
    }
  }
  assert.equal(await unguarded(new Jobs(), 'job')(), 'done');
});

class Both {
  @Scheduled(AT_THREE)
  @SchedulerLock('of-instance', '1m')
  async daily(): Promise<void> {}

  @Scheduled(AT_THREE)
  @SchedulerLock('of-class', '1m')
  static async yearly(): Promise<void> {}
}

class DerivedBoth extends Both {}

for (const [what, instance, message] of [
  [
    'an instance without its class',
    new Both(),
    /^Both\.yearly has @Scheduled.* needs its class in the same call/,
  ],
  ['a class without an instance', Both, /^Both\.daily has @Scheduled.* needs an instance in the same call/],
] as const) {
  void test(`${what} is rejected, because its other methods would never run`, () => {
    assert.throws(() => scheduleJobs(instance, { guard: bench.guard }), {
      name: 'InvalidLockUseError',
      message,
    });
  });
}

void test('static methods are scheduled beside those of an instance, also of a subclass', () => {
  const tasks = scheduleJobs([new DerivedBoth(), Both], { guard: bench.guard });
  assert.deepEqual(tasks.map((task) => task.name).sort(), ['Both.yearly', 'DerivedBoth.daily']);
});
