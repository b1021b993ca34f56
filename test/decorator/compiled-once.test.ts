import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { configureJobGuard, OncePerDay, SchedulerLock } from 'cronlatch';
import { guardOfRuns } from '../support/benches/guard-of-runs';
import { countedParses } from '../support/jobs/counted-parses';

afterEach(() => configureJobGuard(undefined));

void test('a decorated method is parsed when its guard is configured, and no tick parses it again', async (t) => {
  const parses = countedParses(t);
  class Jobs {
    runs = 0;
    @SchedulerLock(parses.lock)
    @OncePerDay(parses.oncePer)
    async closeDay(): Promise<void> {
      this.runs += await Promise.resolve(1);
    }
  }
  const { guard, clock } = guardOfRuns();
  configureJobGuard(guard);
  const jobs = new Jobs();
  const before = [parses.reads(), parses.nameChecks()];
  for (let day = 0; day < 3; day += 1) {
    await jobs.closeDay();
    clock.advance('1d');
  }
  assert.equal(jobs.runs, 3);
  assert.deepEqual([parses.reads(), parses.nameChecks()], before);
});

void test('a method that is decorated later is parsed only at its first tick', async (t) => {
  const { guard, clock } = guardOfRuns();
  configureJobGuard(guard);
  const parses = countedParses(t);
  class Jobs {
    @SchedulerLock(parses.lock)
    @OncePerDay(parses.oncePer)
    async closeDay(): Promise<void> {}
  }
  const jobs = new Jobs();
  await jobs.closeDay();
  const before = [parses.reads(), parses.nameChecks()];
  clock.advance('1d');
  await jobs.closeDay();
  assert.deepEqual([parses.reads(), parses.nameChecks()], before);
});
