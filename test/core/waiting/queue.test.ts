import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { LockManager, type Lock } from 'cronlatch';
import { InMemoryLockProvider } from 'cronlatch/memory';
import { EventHub } from 'cronlatch/provider';
import { SettableClock } from 'cronlatch/testing';
import { signal } from '../../support/benches/executor';
import { turn } from '../../support/benches/lock';
import { refusedConnection } from '../../support/faults/accessor';
import { notifiedBench, ORDER, polledBench } from './bench';

void test('the waiters of a process get the lock in their order, and only the first one asks the store', async () => {
  const { here, there, accessor, clock } = polledBench();
  const held = await there.lock('order');
  const served: number[] = [];
  const waiters = [0, 1, 2].map((i) =>
    here.lock('order').then(async (lock) => {
      served.push(i);
      await lock.unlock();
    }),
  );
  await turn();
  assert.equal(accessor.calls.filter((call) => call === 'updateRecord').length, 1);
  await held.unlock();
  clock.advance('50ms'); // The first waiter polls. Each of the others is woken by the release before it.
  await Promise.all(waiters);
  assert.deepEqual(served, [0, 1, 2]);
  assert.equal(clock.monotonicMs(), 50);
});

void test('two managers of one provider share the queue', async () => {
  const { here, there, provider, accessor, clock } = polledBench();
  await there.lock('order');
  const second = new LockManager(provider, { lockAtMostFor: '10m', clock });
  const stop = new AbortController();
  const waiting = [here, second].map((manager) => manager.lock('order', { signal: stop.signal }));
  await turn();
  assert.equal(accessor.calls.filter((call) => call === 'updateRecord').length, 1);
  stop.abort();
  assert.deepEqual(
    (await Promise.allSettled(waiting)).map(({ status }) => status),
    ['rejected', 'rejected'],
  );
});

void test('an aborted waiter leaves its queue, with the reason of its signal, and without a listener', async () => {
  const { here, there, drive, clock } = polledBench();
  const held = await there.lock('order');
  const [a, b, c] = [new AbortController(), new AbortController(), new AbortController()];
  const [first, second] = [here.lock('order', a), here.lock('order', b)];
  const third = here.lock('order', c);
  await turn();
  a.abort(new Error('no longer needed'));
  b.abort('nor this one');
  await assert.rejects(first, /no longer needed/);
  await assert.rejects(second, (reason: unknown) => reason === 'nor this one');
  await held.unlock();
  assert.ok(await drive(third));
  for (const stop of [a, b, c]) assert.deepEqual(getEventListeners(stop.signal, 'abort'), []);
  assert.equal(clock.pendingTimers, 1, 'the deadline of the granted lease');
});

void test('an aborted signal refuses at once, and sends nothing', async () => {
  const { here, accessor } = polledBench();
  const aborted = AbortSignal.abort(new Error('too late'));
  await assert.rejects(here.lock('order', { signal: aborted }), /too late/);
  await assert.rejects(here.tryLock('order', { signal: aborted }), /too late/);
  await assert.rejects(
    here.withLock('order', { signal: aborted }, () => assert.fail('ran')),
    /too late/,
  );
  assert.deepEqual(accessor.calls, []);
});

void test('a grant that arrives after the abort is released, and then the next waiter gets the lock', async () => {
  const { here, there, accessor, drive, emitted } = polledBench();
  const inFlight = signal();
  accessor.delay('updateRecord', () => inFlight.promise);
  const stop = new AbortController();
  const first = here.lock('order', { signal: stop.signal });
  const second = here.lock('order');
  await turn();
  stop.abort(new Error('gone'));
  await assert.rejects(first, /gone/);
  inFlight.resolve();
  const lock = await drive(second);
  assert.equal(await there.tryLock('order'), undefined);
  assert.deepEqual(emitted, ['lock:acquired']);
  assert.equal(await lock.unlock(), true);
});

void test('a late grant that cannot be released is a warning', async () => {
  const { here, accessor, warnings } = polledBench();
  const inFlight = signal();
  accessor.delay('updateRecord', () => inFlight.promise);
  accessor.fail('unlock', refusedConnection);
  const stop = new AbortController();
  const waiting = here.lock({ ...ORDER, lockAtMostFor: 1 }, { signal: stop.signal });
  await turn();
  stop.abort(new Error('gone'));
  await assert.rejects(waiting, /gone/);
  inFlight.resolve();
  for (let i = 0; i < 5; i += 1) await turn();
  assert.match(warnings[0]?.message ?? '', /granted after its caller had stopped waiting/);
});

void test('an error of the store rejects the first waiter, and the next one goes on', async () => {
  const { here, accessor } = polledBench();
  accessor.fail('updateRecord', refusedConnection);
  const [first, second] = [here.lock('order'), here.lock('order')];
  await assert.rejects(first, { code: 'CRONLATCH_STORAGE' });
  assert.ok(await second);
});

void test('a provider that cannot watch a lock is polled, and a warning reports it', async () => {
  const { provider, there, clock } = notifiedBench();
  const events = new EventHub();
  const warnings: string[] = [];
  events.on('guard:warning', ({ message }) => void warnings.push(message));
  const broken = {
    lock: provider.lock.bind(provider),
    released: () => Promise.reject(new Error('no channel')),
  };
  const here = new LockManager(broken, { lockAtMostFor: '1m', clock, events });
  const held = await there.tryLock('order');
  const waiting = here.lock('order');
  await turn();
  await held?.unlock();
  clock.advance('1s');
  assert.ok(await waiting);
  assert.deepEqual(warnings, ["The lock provider could not watch lock 'order'. cronlatch polls instead."]);
});

void test('names that were waited for leave nothing behind', async () => {
  const clock = new SettableClock();
  const manager = new LockManager(new InMemoryLockProvider({ clock, keepRows: false }), { clock });
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heapAfter = async (names: number, label: string): Promise<number> => {
    for (let i = 0; i < names; i += 1) {
      const lock = await manager.tryLock({ ...ORDER, name: `${label}-${i}` }, { wait: '1s' });
      clock.advance(1); // A record is kept while a new one could not have a higher token.
      await lock?.unlock();
    }
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = await heapAfter(5_000, 'first');
  const after = await heapAfter(20_000, 'second');
  assert.ok(after - before < 1.3e6, `the heap has grown by ${after - before} bytes`);
  assert.equal(clock.pendingTimers, 0);
});

void test('a thousand waiters cause no warning of Node about listeners', async (t) => {
  const { here, there, drive } = polledBench();
  const warned: Error[] = [];
  const listener = (warning: Error): void => void warned.push(warning);
  process.on('warning', listener);
  t.after(() => process.off('warning', listener));
  const held = await there.lock('order');
  const stop = new AbortController();
  const release = async (lock: Lock): Promise<boolean> => await lock.unlock();
  const waiters = Array.from({ length: 1000 }, () =>
    here.lock('order', { signal: stop.signal }).then(release),
  );
  await turn();
  await held.unlock();
  await drive(Promise.all(waiters));
  assert.deepEqual(warned, []);
  assert.deepEqual(getEventListeners(stop.signal, 'abort'), []);
});
