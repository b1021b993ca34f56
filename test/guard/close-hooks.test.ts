import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CronlatchEvents } from 'cronlatch';
import { guardBench, runningJob } from '../support/benches/guard';
import { turn } from '../support/benches/lock';

void test('scheduling stops before close waits for the jobs, and their resources are closed after them', async () => {
  const { guard } = guardBench();
  const order: string[] = [];
  const note = (what: string) => () => Promise.resolve(void order.push(what));
  guard.onClose({ stop: note('stop 1'), close: note('close 1') });
  guard.onClose({ stop: note('stop 2'), close: note('close 2') });
  const job = await runningJob(guard);
  const closing = guard.close();
  await turn();
  assert.deepEqual(order, ['stop 1', 'stop 2']);
  guard.on('run:completed', () => void order.push('job'));
  job.finish();
  await closing;
  assert.deepEqual(order, ['stop 1', 'stop 2', 'job', 'close 1', 'close 2']);
});

const failure = new Error('hook');
const FAILING = {
  rejects: () => Promise.reject(failure),
  throws: () => {
    throw failure;
  },
};

for (const [how, hook] of Object.entries(FAILING)) {
  void test(`a hook that ${how} causes a warning, and everything else is still closed`, async () => {
    const { guard, events } = guardBench();
    const warnings: CronlatchEvents['guard:warning'][] = [];
    events.on('guard:warning', (warning) => void warnings.push(warning));
    const closed: string[] = [];
    guard.onClose({ stop: hook, close: hook });
    guard.onClose({ close: () => Promise.resolve(void closed.push('the other')) });
    assert.deepEqual(await guard.close(), { settled: [], abandoned: [] });
    assert.deepEqual(
      warnings.map(({ error }) => error),
      [failure, failure],
    );
    assert.deepEqual(closed, ['the other']);
  });
}

void test('a hook that hangs is left behind after five seconds, with a warning', async () => {
  const { guard, clock, lines } = guardBench();
  const closed: string[] = [];
  guard.onClose({ close: () => new Promise(() => {}) });
  guard.onClose({ close: () => Promise.resolve(void closed.push('the other')) });
  const closing = guard.close();
  await turn();
  clock.advance('4s');
  await turn();
  let isClosed = false;
  void closing.then(() => (isClosed = true));
  await turn();
  assert.deepEqual([closed, isClosed], [['the other'], false]);
  clock.advance('1s');
  await closing;
  assert.deepEqual(lines, [
    'warn: cronlatch guard:warning: A close hook did not finish within 5 s. The guard no longer waits for it.',
  ]);
});

void test('the delays of several hanging hooks do not add up: close ends five seconds after its timeout', async () => {
  const { guard, clock } = guardBench();
  const hang = (): Promise<never> => new Promise(() => {});
  for (let hooks = 0; hooks < 10; hooks += 1) guard.onClose({ stop: hang, close: hang });
  await runningJob(guard);
  let isClosed = false;
  void guard.close({ timeout: '20s' }).then(() => (isClosed = true));
  for (let seconds = 0; seconds < 25; seconds += 1) {
    await turn();
    assert.ok(!isClosed, `closed after ${seconds} s`);
    clock.advance('1s');
  }
  await turn();
  assert.ok(isClosed);
});
