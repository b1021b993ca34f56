import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OncePerDay, SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleJobs, scheduleLocked } from 'cronlatch/node-cron';
import type { ScheduledTask } from 'node-cron';
import { guardOfRuns, type GuardOfRuns } from '../../support/benches/guard-of-runs';
import { countedParses } from '../../support/jobs/counted-parses';

type Parses = ReturnType<typeof countedParses>;

function scheduledMethod({ lock, oncePer }: Parses, { guard }: GuardOfRuns): ScheduledTask[] {
  class Jobs {
    @Scheduled('0 3 * * *', { timeZone: 'UTC' })
    @SchedulerLock(lock)
    @OncePerDay(oncePer)
    async closeDay(): Promise<void> {}
  }
  return scheduleJobs(new Jobs(), { guard });
}

function scheduledFunction({ lock, oncePer }: Parses, { guard }: GuardOfRuns): ScheduledTask[] {
  const job = { ...lock, oncePer: { ...oncePer, period: 'day' } } as const;
  return [scheduleLocked('0 3 * * *', job, () => {}, { guard })];
}

for (const [what, schedule] of Object.entries({ scheduledMethod, scheduledFunction })) {
  void test(`a ${what === 'scheduledMethod' ? 'scheduled method' : 'scheduled function'} is parsed when it is scheduled, and no tick parses it again`, async (t) => {
    const bench = guardOfRuns();
    t.after(() => bench.guard.close());
    const parses = countedParses(t);
    const [task] = schedule(parses, bench);
    const before = [parses.reads(), parses.nameChecks()];
    for (let day = 0; day < 3; day += 1) {
      await task?.execute();
      bench.clock.advance('1d');
    }
    const completed = bench.names().filter((name) => name === 'run:completed');
    assert.equal(completed.length, 3);
    assert.deepEqual([parses.reads(), parses.nameChecks()], before);
  });
}
