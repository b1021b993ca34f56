import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { currentRun, InvalidLockUseError, OncePerDay, SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { type TestGuard, useTestGuard } from 'cronlatch/testing';
import { guardBench } from '../../support/benches/guard';

class Jobs {
  constructor(readonly label: string) {}

  @SchedulerLock('arrow', '1m')
  readonly arrow = async (greeting: string): Promise<string | undefined> =>
    await Promise.resolve(`${greeting}, ${this.label}`);

  @SchedulerLock('function', '1m')
  readonly function = async function named(this: Jobs): Promise<string | undefined> {
    return await Promise.resolve(this.label);
  };

  @SchedulerLock('static', '1m')
  static readonly job = async (): Promise<string | undefined> => await Promise.resolve('static');

  // @ts-expect-error -- a skipped call resolves to undefined, which is not a number
  @SchedulerLock('certain', '1m')
  readonly certain = async (): Promise<number> => await Promise.resolve(1);
}

let bench: TestGuard;
beforeEach(() => {
  bench = useTestGuard({ now: '2026-11-20T18:00:00Z', defaultLockAtMostFor: '1m' });
});
afterEach(() => bench.dispose());

void test('a field that holds a function is guarded (F-84)', async () => {
  const acquired = bench.next('lock:acquired');
  assert.equal(await new Jobs('Ada').arrow('Hello'), 'Hello, Ada');
  assert.equal((await acquired).name, 'arrow');
  assert.equal(await new Jobs('Ada').function(), 'Ada');
  assert.equal(await Jobs.job(), 'static');
});

void test('all calls of its instances use one lock', async () => {
  const both = [new Jobs('Ada'), new Jobs('Bob')].map(async (jobs) => await jobs.arrow('Hello'));
  assert.deepEqual(await Promise.all(both), ['Hello, Ada', undefined]);
});

void test('the guarded field keeps name and length of the function', () => {
  const jobs = new Jobs('Ada');
  assert.equal(jobs.arrow.length, 1);
  assert.equal(jobs.function.name, 'named');
});

void test('a field with two locks, or two periods, is refused when an instance is created (F-84, L-59)', () => {
  class TwoLocks {
    @SchedulerLock('first', '1m')
    @SchedulerLock('second', '1m')
    readonly job = async (): Promise<void> => {};
  }
  class TwoPeriods {
    @OncePerDay(UTC)
    @SchedulerLock('twice', '1m')
    @OncePerDay(UTC)
    readonly job = async (): Promise<void> => {};
  }
  for (const Jobs of [TwoLocks, TwoPeriods]) assert.throws(() => new Jobs(), InvalidLockUseError);
});

void test('one function in fields of two classes is guarded in each class by its own lock', async () => {
  const shared = async (): Promise<void> => {};
  class First {
    @SchedulerLock('first', '1m')
    readonly job = shared;
  }
  class Second {
    @SchedulerLock('second', '1m')
    readonly job = shared;
  }
  for (const [name, jobs] of [
    ['first', new First()],
    ['second', new Second()],
    ['first', new First()],
  ] as const) {
    const acquired = bench.next('lock:acquired');
    await jobs.job();
    assert.equal((await acquired).name, name);
  }
});

void test('a field runs through the guard that scheduled its instance, even if it is called without the instance', async () => {
  class Nightly {
    @Scheduled('0 3 * * *')
    @SchedulerLock('nightly', '1m')
    readonly job = async (): Promise<string | undefined> => await Promise.resolve('ran');
  }
  const { guard, names } = guardBench();
  const { job } = new Nightly();
  const jobs = new Nightly();
  scheduleJobs(jobs, { guard });
  const { job: bound } = jobs;
  assert.equal(await bound(), 'ran');
  assert.ok(names().includes('run:completed'));
  await assert.rejects(job(), InvalidLockUseError);
  await guard.close();
});

class PrivateJobs {
  constructor(readonly label: string) {}

  @SchedulerLock('private', '1m')
  async #hidden(greeting: string): Promise<string | undefined> {
    return await Promise.resolve(`${greeting}, ${this.label}`);
  }

  @SchedulerLock('private-static', '1m')
  static async #job(): Promise<string | undefined> {
    return await Promise.resolve('static');
  }

  async call(greeting: string): Promise<string | undefined> {
    return await this.#hidden(greeting);
  }

  static async call(): Promise<string | undefined> {
    return await PrivateJobs.#job();
  }
}

void test('a private method is guarded when its class calls it', async () => {
  const acquired = bench.next('lock:acquired');
  assert.equal(await new PrivateJobs('Ada').call('Hello'), 'Hello, Ada');
  assert.equal((await acquired).name, 'private');
  assert.equal(await PrivateJobs.call(), 'static');
});

void test('a private method whose lock is held is skipped', async () => {
  for (const name of ['private', 'private-static'])
    assert.ok(await bench.lockProvider.lock({ name, lockAtMostFor: '1h' }));
  assert.equal(await new PrivateJobs('Ada').call('Hello'), undefined);
  assert.equal(await PrivateJobs.call(), undefined);
});

const UTC = { timeZone: 'UTC' } as const;
const run = async (): Promise<string | undefined> => await Promise.resolve(currentRun().businessDate);

class OncePerJobs {
  constructor(readonly label: string) {}

  @OncePerDay(UTC)
  @SchedulerLock('above', '1m')
  readonly above = async (): Promise<string | undefined> => `${this.label} ${await run()}`;

  @SchedulerLock('below', '1m')
  @OncePerDay(UTC)
  readonly below = async (): Promise<string | undefined> => `${this.label} ${await run()}`;

  @Scheduled('0 3 * * *', { timeZone: 'Asia/Tokyo' })
  @SchedulerLock('scheduled', '1m')
  @OncePerDay()
  readonly scheduled = async (): Promise<string | undefined> => await run();

  @OncePerDay({ ...UTC, name: 'private' })
  async #hidden(): Promise<string | undefined> {
    return await run();
  }

  async hidden(): Promise<string | undefined> {
    return await this.#hidden();
  }
}

for (const order of ['above', 'below'] as const) {
  void test(`a field that holds a function runs once per day, with its lock ${order} (L-59)`, async () => {
    assert.equal(await new OncePerJobs('Ada')[order](), 'Ada 2026-11-20');
    assert.equal(await new OncePerJobs('Bob')[order](), undefined);
  });
}

void test('a scheduled field uses the time zone of its schedule (L-59)', async () => {
  const jobs = new OncePerJobs('Ada');
  scheduleJobs(jobs, { guard: bench.guard });
  assert.equal(await jobs.scheduled(), '2026-11-21');
});

void test('a private method runs once per day', async () => {
  assert.equal(await new OncePerJobs('Ada').hidden(), '2026-11-20');
  assert.equal(await new OncePerJobs('Ada').hidden(), undefined);
});
