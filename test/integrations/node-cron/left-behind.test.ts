import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { currentRun, OncePerDay, SchedulerLock, type JobGuard } from 'cronlatch';
import { systemClock } from 'cronlatch/provider';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { guardOfRuns } from '../../support/benches/guard-of-runs';
import { beginAt, settled } from '../../support/clocks/mocked-ticks';
import { foreignDecorator } from '../../support/jobs/both-modes';
import { Messages } from '../../support/jobs/messages';
import { InMemoryRunStore } from '#cronlatch/storage/memory/in-memory-run-store';

/** The guard and its store use the time that the test sets. */
const clock = { ...systemClock, monotonicMs: () => Date.now() };
const messages = new Messages();
const days: string[] = [];
let guard: JobGuard;

/** A decorator outside the lock that leaves work behind, for example a connection that receives messages. */
const leavingConsumer = foreignDecorator((method) => {
  const wrapper = async function (this: unknown, ...args: never[]): Promise<unknown> {
    void messages.consume(() => (this as Jobs).settle());
    return await method.apply(this, args);
  };
  return Object.defineProperties(wrapper, Object.getOwnPropertyDescriptors(method));
});

class Jobs {
  @Scheduled('0 3 20 11 *', { timeZone: 'UTC' })
  @leavingConsumer
  @SchedulerLock('open', '1m')
  async open(): Promise<void> {}

  @OncePerDay({ timeZone: 'UTC' })
  @SchedulerLock('settle', '1m')
  async settle(): Promise<void> {
    await Promise.resolve(days.push(currentRun().periodKey));
  }
}

beforeEach(() => {
  messages.begin();
  beginAt('2026-11-20T02:59:00Z');
  guard = guardOfRuns({ runStore: new InMemoryRunStore({ clock }), clock }).guard;
});
afterEach(async () => {
  messages.end();
  await guard.close();
  mock.timers.reset();
});

async function seconds(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) mock.timers.tick(1000);
  await settled();
}

void test('work that a decorator outside the lock leaves behind does not keep the scheduled time of the tick (F-91)', async () => {
  scheduleJobs(new Jobs(), { guard });
  await seconds(90);
  await messages.send();
  assert.deepEqual(days, ['2026-11-20']);
  mock.timers.setTime(Date.parse('2026-11-21T03:00:00Z'));
  await messages.send();
  assert.deepEqual(days, ['2026-11-20', '2026-11-21']);
});
