import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { InvalidLockUseError, SchedulerLock } from 'cronlatch';
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
beforeEach(() => void (bench = useTestGuard()));
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

void test('a field that is guarded twice is refused when an instance is created (F-84)', () => {
  class Twice {
    @SchedulerLock('first', '1m')
    @SchedulerLock('second', '1m')
    readonly job = async (): Promise<void> => {};
  }
  assert.throws(() => new Twice(), InvalidLockUseError);
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
