import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { SchedulerLock, type JobGuard } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import type { ScheduledTask } from 'node-cron';
import { guardBench, nextEvent } from '../../support/benches/guard';

const KEY = Symbol('weekly');

class Base {
  readonly ran: string[] = [];

  @Scheduled('0 3 * * *', { timeZone: 'Asia/Tokyo' })
  @SchedulerLock('nightly', '1m')
  async nightly(): Promise<string | undefined> {
    return await Promise.resolve(`nightly of ${this.constructor.name}`);
  }

  @Scheduled('0 4 * * *')
  @Scheduled('0 5 * * *')
  @SchedulerLock('twice', '1m')
  async twice(): Promise<void> {}

  async unscheduled(): Promise<void> {}
}

class Derived extends Base {
  @Scheduled('0 6 * * 0')
  @SchedulerLock('weekly', '1m')
  async [KEY](): Promise<void> {}

  override async twice(): Promise<void> {}
}

class Statics {
  @Scheduled('0 7 * * *')
  @SchedulerLock('static', '1m')
  static async daily(): Promise<string | undefined> {
    return await Promise.resolve(`daily of ${this.name}`);
  }
}

const guards: JobGuard[] = [];
function newGuard(): JobGuard {
  const { guard } = guardBench();
  guards.push(guard);
  return guard;
}
afterEach(() => Promise.all(guards.splice(0).map((guard) => guard.close())));

const described = (tasks: ScheduledTask[]): string[] =>
  tasks.map((task) => `${task.name}: ${task.getPattern()}`).sort();

void test('every scheduled method becomes a task, named after its class and method', () => {
  const tasks = scheduleJobs(new Base(), { guard: newGuard() });
  assert.deepEqual(described(tasks), [
    'Base.nightly: 0 3 * * *',
    'Base.twice: 0 4 * * *',
    'Base.twice: 0 5 * * *',
  ]);
  for (const task of tasks) assert.equal(task.getStatus(), 'idle');
});

void test('inherited methods are scheduled, and an override hides the schedule of the overridden method', () => {
  const tasks = scheduleJobs(new Derived(), { guard: newGuard() });
  assert.deepEqual(described(tasks), ['Derived.Symbol(weekly): 0 6 * * 0', 'Derived.nightly: 0 3 * * *']);
});

void test('static methods are scheduled on the class itself', async () => {
  const [task] = scheduleJobs(Statics, { guard: newGuard() });
  assert.equal(task?.name, 'Statics.daily');
  assert.equal(await task?.execute(), 'daily of Statics');
});

void test('a method that was added to an object without a class is scheduled', async () => {
  const jobs = Object.assign(Object.create(null) as object, { nightly: Reflect.get(Statics, 'daily') });
  const [task] = scheduleJobs(jobs, { guard: newGuard() });
  assert.equal(task?.name, 'Object.nightly');
  await assert.doesNotReject(async () => void (await task?.execute()));
});

void test('several instances can be scheduled in one call', () => {
  assert.deepEqual(described(scheduleJobs([new Derived(), Statics], { guard: newGuard() })), [
    'Derived.Symbol(weekly): 0 6 * * 0',
    'Derived.nightly: 0 3 * * *',
    'Statics.daily: 0 7 * * *',
  ]);
});

void test('a task runs its method on its instance, under the guard that scheduled it', async () => {
  const guard = newGuard();
  const tasks = scheduleJobs(new Derived(), { guard });
  const started = nextEvent(guard, 'run:started');
  assert.equal(await tasks.find(({ name }) => name === 'Derived.nightly')?.execute(), 'nightly of Derived');
  assert.equal((await started).name, 'nightly');
});
