import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { guardBench } from '../support/benches/guard';
import { JOB, turn } from '../support/benches/lock';

const broken = new Error('broken listener');
const FAILING = {
  throws: (): void => {
    throw broken;
  },
  rejects: () => Promise.reject(broken),
  'rejects with a promise of another realm': () =>
    runInNewContext('Promise.reject(broken)', { broken }) as Promise<never>,
  'returns a thenable that rejects': () => ({
    then: (_done: unknown, reject: (error: unknown) => void) => reject(broken),
  }),
};
const EVENTS = ['lock:acquired', 'run:started', 'run:completed', 'lock:released'] as const;

for (const [how, listener] of Object.entries(FAILING)) {
  void test(`a listener that ${how} only causes a warning (F-90)`, async () => {
    const { guard, emitted, other } = guardBench();
    for (const name of EVENTS) guard.on(name, listener);
    assert.deepEqual(await guard.run(JOB, () => 42), { executed: true, value: 42 });
    await turn();
    assert.ok(await other.lock(JOB));
    assert.deepEqual(
      emitted.filter(([name]) => name === 'guard:warning').map(([, event]) => event),
      EVENTS.map((name) => ({ message: `A listener of '${name}' failed.`, error: broken })),
    );
  });

  void test(`a warning listener that ${how} causes a process warning, not an endless loop (F-90)`, async () => {
    const warned = mock.method(process, 'emitWarning', () => {});
    const { guard, events } = guardBench();
    guard.on('guard:warning', listener);
    events.emit('guard:warning', { message: 'Look here.' });
    await turn();
    mock.restoreAll();
    assert.deepEqual(
      warned.mock.calls.map((call) => call.arguments[0]),
      ["A listener of 'guard:warning' failed."],
    );
  });
}

void test('a job does not wait for its listeners (F-90)', async () => {
  const { guard } = guardBench();
  guard.on('run:started', () => new Promise(() => {}));
  assert.deepEqual(await guard.run(JOB, () => 42), { executed: true, value: 42 });
});

void test('a listener may be removed during an event, and gets no further ones', async () => {
  const { guard } = guardBench();
  const calls: string[] = [];
  const stop = guard.on('run:started', () => {
    stop();
    calls.push('first');
  });
  guard.on('run:started', () => void calls.push('second'));
  await guard.run(JOB, () => {});
  await guard.run(JOB, () => {});
  assert.deepEqual(calls, ['first', 'second', 'second']);
});

void test('a listener of once gets one event, even if it causes the next event itself', async () => {
  const { guard, events } = guardBench();
  const messages: string[] = [];
  guard.once('guard:warning', ({ message }) => {
    messages.push(message);
    events.emit('guard:warning', { message: 'the second' });
  });
  events.emit('guard:warning', { message: 'the first' });
  await guard.run(JOB, () => {});
  assert.deepEqual(messages, ['the first']);
});

void test('a listener of once that is removed before the event gets none', () => {
  const { guard, events } = guardBench();
  const never = (): never => assert.fail('was called');
  guard.once('guard:warning', never)();
  guard.once('guard:warning', never);
  guard.off('guard:warning', never);
  events.emit('guard:warning', { message: 'Look here.' });
});

void test('off removes a listener of on, for the given event only', async () => {
  const { guard } = guardBench();
  const calls: string[] = [];
  const listener = (): void => void calls.push('called');
  guard.on('run:started', listener);
  guard.on('run:completed', listener);
  guard.off('run:started', listener);
  guard.off('lock:lost', listener);
  await guard.run(JOB, () => {});
  assert.equal(calls.length, 1);
});

void test('a listener that was added twice is called twice, and off removes one of them', async () => {
  const { guard } = guardBench();
  let calls = 0;
  const listener = (): void => void (calls += 1);
  guard.on('run:started', listener);
  guard.once('run:started', listener);
  guard.off('run:started', listener);
  await guard.run(JOB, () => {});
  await guard.run(JOB, () => {});
  assert.equal(calls, 2);
});
