import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { startScript, type ChildScript } from '../support/child-script';

const SOON = { timeout: 20_000 };

async function ready(t: TestContext, scenario: string): Promise<ChildScript> {
  const script = startScript(join(__dirname, 'fixtures', 'closing-process.js'), scenario);
  t.after(() => script.kill('SIGKILL'));
  await script.line('ready');
  return script;
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  void test(
    `F-13 ${signal} closes the guard, and then ends the process as it would have`,
    SOON,
    async (t) => {
      const script = await ready(t, 'a job');
      script.kill(signal);
      assert.deepEqual(await script.ended, { code: null, signal });
      assert.deepEqual(script.lines, ['ready', 'closing', 'job ended', 'released', 'closed']);
    },
  );
}

void test('F-14 a second signal ends the process at once, while a job hangs', SOON, async (t) => {
  const script = await ready(t, 'hanging job');
  script.kill('SIGTERM');
  await script.line('closing');
  script.kill('SIGTERM');
  assert.deepEqual(await script.ended, { code: null, signal: 'SIGTERM' });
  assert.deepEqual(script.lines, ['ready', 'closing']);
});

void test('F-14 other signals end the process as ever: nobody waits for its job', SOON, async (t) => {
  const script = await ready(t, 'hanging job');
  script.kill('SIGHUP');
  assert.deepEqual(await script.ended, { code: null, signal: 'SIGHUP' });
  assert.deepEqual(script.lines, ['ready']);
});

for (const listener of ['another listener', 'a listener once']) {
  void test(
    `where there is ${listener}, the signal is not raised again: how to end is theirs to say`,
    SOON,
    async (t) => {
      const script = await ready(t, listener);
      script.kill('SIGTERM');
      assert.deepEqual(await script.ended, { code: 7, signal: null });
      assert.deepEqual(script.lines, ['ready', 'closing', 'mine', 'job ended', 'released', 'closed']);
    },
  );
}

void test('with two guards the process ends after the slower one', SOON, async (t) => {
  const script = await ready(t, 'another guard');
  script.kill('SIGTERM');
  assert.deepEqual(await script.ended, { code: null, signal: 'SIGTERM' });
  assert.deepEqual(script.lines, ['ready', 'closing', 'closed', 'job ended', 'released', 'closed']);
});

void test('once it was told to stop listening, a signal has its usual effect', SOON, async (t) => {
  const script = await ready(t, 'stopped listening');
  script.kill('SIGTERM');
  assert.deepEqual(await script.ended, { code: null, signal: 'SIGTERM' });
  assert.deepEqual(script.lines, ['ready']);
});
