import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Injectable } from '@nestjs/common';
import { Cron, SchedulerRegistry } from '@nestjs/schedule';
import { OncePerDay, SchedulerLock } from 'cronlatch';
import { nextEvent } from '../../support/benches/guard';
import { guardOfRuns } from '../../support/benches/guard-of-runs';
import { turn } from '../../support/benches/lock';
import { countedParses } from '../../support/jobs/counted-parses';
import { startWith } from './application';

void test('a job of an application is parsed when the application starts, and no tick parses it again', async (t) => {
  const { guard, clock } = guardOfRuns();
  const parses = countedParses(t);
  let runs = 0;
  @Injectable()
  class Jobs {
    @Cron('0 3 * * *', { name: 'close-day', timeZone: 'UTC' })
    @SchedulerLock(parses.lock)
    @OncePerDay(parses.oncePer)
    async closeDay(): Promise<void> {
      runs += await Promise.resolve(1);
    }
  }
  const app = await startWith(guard, [Jobs]);
  t.after(() => app.close());
  const job = app.get(SchedulerRegistry).getCronJob('close-day');
  const before = [parses.reads(), parses.nameChecks()];
  for (let day = 0; day < 3; day += 1) {
    const released = nextEvent(guard, 'lock:released');
    await job.fireOnTick();
    await released;
    await turn();
    clock.advance('1d');
  }
  assert.equal(runs, 3);
  assert.deepEqual([parses.reads(), parses.nameChecks()], before);
});
