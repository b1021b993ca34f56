import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import type { CloseOptions } from 'cronlatch/provider';
import { guardBench, runningJob } from '../support/benches/guard';

const REFUSED: [CloseOptions, RegExp][] = [
  [{ timeout: '20' }, /^timeout of close is "20"/],
  [{ timeout: -1 }, /^timeout of close is -1/],
  [{ timeout: '1s', grace: 'soon' }, /^grace of close is "soon"/],
  [{ timeout: '10s', grace: '11s' }, /^grace \(11s\) of close is longer than its timeout \(10s\)/],
  [{ grace: '21s' }, /^grace \(21s\) of close is longer than its timeout \(20s\)/],
];

for (const [options, message] of REFUSED) {
  void test(`close options ${JSON.stringify(options)} are rejected, and the guard stays open`, async () => {
    const { guard } = guardBench();
    await assert.rejects(guard.close(options), { name: 'InvalidLockConfigurationError', message });
    assert.throws(() => guard.closeOnSignals(options), { name: 'InvalidLockConfigurationError', message });
    assert.deepEqual(await guard.run({ name: 'job', lockAtMostFor: '1m' }, () => 1), {
      executed: true,
      value: 1,
    });
    assert.deepEqual(await guard.close(), { settled: [], abandoned: [] });
  });
}

void test('closeOnSignals with invalid options listens to no signal', () => {
  const { guard } = guardBench();
  assert.throws(() => guard.closeOnSignals({ timeout: 'x' }));
  assert.equal(process.listenerCount('SIGTERM') + process.listenerCount('SIGINT'), 0);
});

void test('a timeout shorter than the default grace is all grace', async () => {
  const { guard, clock } = guardBench();
  const { lock } = await runningJob(guard);
  const aborted = once(lock.signal, 'abort');
  const closing = guard.close({ timeout: '2s' });
  await aborted;
  clock.advance('2s');
  assert.deepEqual(await closing, { settled: [], abandoned: ['job'] });
});
