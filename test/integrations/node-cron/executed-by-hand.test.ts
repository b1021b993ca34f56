import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { SchedulerLock, type CronlatchEvents } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { setLogger, type ScheduledTask } from 'node-cron';
import { guardBench, nextEvent, reasonOf, type GuardBench } from '../../support/benches/guard';
import { refusedConnection } from '../../support/faults/accessor';
import { foreignDecorator } from '../../support/jobs/both-modes';

const complaints: unknown[] = [];
setLogger({
  info: () => {},
  debug: () => {},
  warn: (message) => void complaints.push(message),
  error: (message) => void complaints.push(message),
});

const foreign = new Error('of the wrapper');
/** A wrapper from another library that keeps the marks of the wrapped method, and throws its own error. */
const failingAfterwards = foreignDecorator((method) =>
  Object.assign(async function (this: unknown): Promise<never> {
    await method.call(this);
    throw foreign;
  }, method),
);

class Jobs {
  @Scheduled('0 3 * * *')
  @SchedulerLock('good', '1m')
  async good(): Promise<string | undefined> {
    return await this.inner();
  }

  @SchedulerLock('inner', '1m')
  async inner(): Promise<string | undefined> {
    return await Promise.resolve('ran');
  }

  @Scheduled('0 3 * * *')
  @SchedulerLock('failing', '1m')
  async failing(): Promise<void> {
    await Promise.reject(new Error('of the job'));
  }

  @failingAfterwards
  @Scheduled('0 3 * * *')
  @SchedulerLock('wrapped', '1m')
  async wrapped(): Promise<void> {}
}

let bench: GuardBench;
let tasks: ScheduledTask[];
const execute = (name: string): Promise<unknown> =>
  tasks.find((task) => task.name === `Jobs.${name}`)?.execute() ?? assert.fail(`There is no ${name}.`);

beforeEach(() => {
  complaints.length = 0;
  bench = guardBench();
  tasks = scheduleJobs(new Jobs(), { guard: bench.guard });
});
afterEach(() => bench.guard.close());

void test('a task that is executed by hand resolves to the value, and has no scheduled time', async () => {
  const started = nextEvent(bench.guard, 'run:started');
  assert.equal(await execute('good'), 'ran');
  const event: CronlatchEvents['run:started'] = await started;
  assert.deepEqual([event.name, event.scheduledAt], ['good', undefined]);
});

void test('a failure of the job is reported once, by the guard', async () => {
  assert.equal(await execute('failing'), undefined);
  assert.equal(bench.lines.length, 1);
  assert.deepEqual(complaints, []);
});

void test('a failure of the store is reported once, by the guard', async () => {
  bench.accessor.fail('updateRecord', refusedConnection);
  assert.equal(await execute('good'), undefined);
  assert.equal(bench.lines.length, 1);
  assert.deepEqual(complaints, []);
});

void test('an error of a wrapper outside the guard is left to node-cron', async () => {
  assert.equal(await reasonOf(execute('wrapped')), foreign);
  assert.deepEqual(complaints, [foreign]);
  assert.deepEqual(bench.lines, []);
  assert.ok(bench.names().includes('run:completed'));
});
