import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { getTasks } from 'node-cron';
import { guardBench, nextEvent } from '../../support/benches/guard';

class Jobs {
  @Scheduled('0 3 * * *')
  @SchedulerLock('nightly', '1m')
  async nightly(): Promise<void> {}

  @Scheduled('0 4 * * *')
  @Scheduled('0 5 * * *')
  @SchedulerLock('twice', '1m')
  async twice(): Promise<void> {}
}

void test('closing the guard destroys its tasks, and not those of other guards', async () => {
  const [first, second] = [guardBench().guard, guardBench().guard];
  const tasks = scheduleJobs(new Jobs(), { guard: first });
  const others = scheduleJobs(new Jobs(), { guard: second });
  await first.close();
  assert.deepEqual(new Set(tasks.map((task) => task.getStatus())), new Set(['destroyed']));
  assert.deepEqual(new Set(others.map((task) => task.getStatus())), new Set(['idle']));
  assert.deepEqual([...getTasks().values()], others);
  await second.close();
  assert.equal(getTasks().size, 0);
});

void test('a guard that closes while its task runs waits for it', async () => {
  const { guard, clock } = guardBench();
  let finish = (): void => {};
  class Slow {
    @Scheduled('0 3 * * *')
    @SchedulerLock('slow', '1m')
    async job(): Promise<string | undefined> {
      await new Promise<void>((resolve) => (finish = resolve));
      return 'done';
    }
  }
  const [task] = scheduleJobs(new Slow(), { guard });
  const started = nextEvent(guard, 'run:started');
  const execution: Promise<unknown> | undefined = task?.execute();
  await started;
  const closing = guard.close();
  clock.advance('1s');
  finish();
  assert.deepEqual(await closing, { settled: ['slow'], abandoned: [] });
  assert.equal(await execution, 'done');
});
