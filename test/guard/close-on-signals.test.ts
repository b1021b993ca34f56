import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { SAME_SIGNAL_MS } from '#cronlatch/guard/closing/closing';
import { startScript, type ChildScript } from '../support/processes/child-script';

const SOON = { timeout: 20_000 };

async function ready(t: TestContext, scenario: string): Promise<ChildScript> {
  const script = startScript(join(__dirname, 'fixtures', 'closing-process.js'), scenario);
  t.after(() => script.kill('SIGKILL'));
  await script.line('ready');
  return script;
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  void test(`${signal} closes the guard, and then ends the process as usual (F-13)`, SOON, async (t) => {
    const script = await ready(t, 'a job');
    script.kill(signal);
    assert.deepEqual(await script.ended, { code: null, signal });
    assert.deepEqual(script.lines, ['ready', 'closing', 'job ended', 'released', 'closed']);
  });
}

void test('a second signal ends the process at once, even if a job hangs (F-14)', SOON, async (t) => {
  const script = await ready(t, 'hanging job');
  script.kill('SIGTERM');
  await script.line('closing');
  await pause(SAME_SIGNAL_MS);
  script.kill('SIGTERM');
  assert.deepEqual(await script.ended, { code: null, signal: 'SIGTERM' });
  assert.deepEqual(script.lines, ['ready', 'closing']);
});

void test('a signal that a program sends twice closes the guard once, and the job ends', SOON, async (t) => {
  const script = await ready(t, 'a job');
  // Two of one kind can be delivered as one.
  script.kill('SIGTERM');
  script.kill('SIGINT');
  const { signal } = await script.ended;
  assert.ok(signal === 'SIGTERM' || signal === 'SIGINT');
  assert.deepEqual(script.lines, ['ready', 'closing', 'job ended', 'released', 'closed']);
});

void test(
  'a listener that ends the process when it is alone does not end it before the job',
  SOON,
  async (t) => {
    const script = await ready(t, 'a lonely listener');
    script.kill('SIGTERM');
    assert.deepEqual(await script.ended, { code: null, signal: 'SIGTERM' });
    assert.deepEqual(script.lines, ['ready', 'closing', 'job ended', 'released', 'closed']);
  },
);

void test('other signals end the process as usual, without waiting for its job (F-14)', SOON, async (t) => {
  const script = await ready(t, 'hanging job');
  script.kill('SIGHUP');
  assert.deepEqual(await script.ended, { code: null, signal: 'SIGHUP' });
  assert.deepEqual(script.lines, ['ready']);
});

for (const listener of ['another listener', 'a listener once']) {
  void test(
    `with ${listener}, the guard does not raise the signal again, because that listener decides how the process ends`,
    SOON,
    async (t) => {
      const script = await ready(t, listener);
      script.kill('SIGTERM');
      assert.deepEqual(await script.ended, { code: 7, signal: null });
      assert.deepEqual(script.lines, ['ready', 'closing', 'mine', 'job ended', 'released', 'closed']);
    },
  );
}

void test('with two guards the process ends after both have closed', SOON, async (t) => {
  const script = await ready(t, 'another guard');
  script.kill('SIGTERM');
  assert.deepEqual(await script.ended, { code: null, signal: 'SIGTERM' });
  assert.deepEqual(script.lines, ['ready', 'closing', 'closed', 'job ended', 'released', 'closed']);
});

void test('after the guard has stopped listening, a signal has its usual effect', SOON, async (t) => {
  const script = await ready(t, 'stopped listening');
  script.kill('SIGTERM');
  assert.deepEqual(await script.ended, { code: null, signal: 'SIGTERM' });
  assert.deepEqual(script.lines, ['ready']);
});

void test('in a worker thread, which gets no signals, it is a warning', SOON, async () => {
  const code = `const { JobGuard } = require('cronlatch');
    const { InMemoryLockProvider } = require('cronlatch/memory');
    const guard = new JobGuard({ lockProvider: new InMemoryLockProvider(), logger: false });
    guard.on('guard:warning', ({ message }) => require('node:worker_threads').parentPort.postMessage(message));
    guard.closeOnSignals();`;
  const worker = new Worker(code, { eval: true });
  const [message] = (await once(worker, 'message')) as [string];
  assert.match(message, /^closeOnSignals\(\) has no effect in a worker thread/);
  await worker.terminate();
});
