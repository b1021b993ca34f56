import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import type { JobGuard } from 'cronlatch';
import { ledgerPlace, memoryStores, type Instance } from '../support/stores/ledger-place';
import { nextEvent } from '../support/benches/guard';
import { turn } from '../support/benches/lock';
import { testCodeOn } from '../support/checks/page-tests';
import * as changedSchedule from './node-cron/changed-schedule';
import * as distributed from './node-cron/distributed';
import * as plainFunction from './node-cron/plain-function';
import * as wrapped from './node-cron/wrapped';

testCodeOn('docs/node-cron.md', 'test/docs/node-cron');

let instances: Instance[];
let close: () => Promise<void>;
beforeEach(() => {
  const { place, close: closeAll } = ledgerPlace(memoryStores('2026-11-20T02:00:00Z'));
  instances = [place.instance(), place.instance()];
  close = closeAll;
});
afterEach(async () => {
  await close();
  mock.timers.reset();
});

const guardOf = (index: number): JobGuard => instances[index]?.guard ?? assert.fail();

void test('the wrapped method and the function run under one lock', async () => {
  let finish = (): void => {};
  const synced = new Promise<number>((resolve) => (finish = () => resolve(3)));
  const [method] = wrapped.start(guardOf(0), () => synced);
  const started = nextEvent(guardOf(0), 'run:started');
  const result = method?.execute();
  await started;
  const task = plainFunction.start(guardOf(1), () => assert.fail('ran'));
  assert.equal(await task.execute(), undefined);
  finish();
  assert.equal(await result, 3);
});

void test('a function is a distributed task with the options of the page', async () => {
  const task = distributed.start(
    guardOf(0),
    () => Promise.resolve(),
    () => {},
  );
  assert.deepEqual([task.name, task.getStatus()], ['nightly-export', 'idle']);
  await guardOf(0).close();
  assert.equal(task.getStatus(), 'destroyed');
});

void test('a changed schedule has the ticks of the new one, at its scheduled times', async () => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: new Date('2026-11-20T02:59:59.000Z') });
  let ran = 0;
  const change = changedSchedule.start(guardOf(0), () => Promise.resolve(void (ran += 1)));
  const before = change('0 5 * * *');
  const after = change('0 4 * * *');
  const started = nextEvent(guardOf(0), 'run:started');
  mock.timers.tick(1000);
  assert.equal((await started).scheduledAt?.toISOString(), '2026-11-20T03:00:00.000Z');
  for (let turns = 0; turns < 20; turns += 1) await turn();
  assert.equal(ran, 1);
  assert.deepEqual([before.getStatus(), after.getStatus()], ['destroyed', 'idle']);
  await guardOf(0).close();
  assert.equal(after.getStatus(), 'destroyed');
});
