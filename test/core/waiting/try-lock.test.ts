import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockConfigurationError, InvalidLockUseError, LockManager } from 'cronlatch';
import type { LockProvider } from 'cronlatch/provider';
import { turn } from '../../support/benches/lock';
import { notifiedBench, ORDER, polledBench } from './bench';

void test('tryLock resolves to a lock, or to undefined while another process holds it', async () => {
  const { here, there } = polledBench();
  const lock = await here.tryLock('order');
  assert.ok(lock);
  assert.equal(await there.tryLock('order'), undefined);
  assert.equal(await lock.unlock(), true);
  assert.ok(await there.tryLock('order'));
});

void test('tryLock with wait gets a lock that is released in that time', async () => {
  const { here, there, drive, clock } = polledBench();
  const lock = await here.tryLock('order');
  const waiting = there.tryLock('order', { wait: '5s' });
  await turn();
  clock.advance('2s');
  await lock?.unlock();
  assert.ok(await drive(waiting));
  assert.ok(clock.monotonicMs() <= 3000, 'the delays between two attempts stay below a second');
});

void test('a wait ends when it should, although its next poll would be later', async () => {
  const { here, there, drive, clock } = polledBench();
  await here.lock(ORDER);
  assert.equal(await drive(there.tryLock(ORDER, { wait: '500ms' }), 1), undefined);
  assert.equal(clock.monotonicMs(), 500);
  assert.equal(await drive(there.tryLock(ORDER, { wait: '1m' })), undefined);
  assert.ok(clock.monotonicMs() <= 60_510);
  assert.equal(clock.pendingTimers, 1, 'only the deadline of the held lease is left');
});

void test('a waiter that is not the first in its queue also stops in time', async () => {
  const { here, there, drive, clock, accessor } = polledBench();
  await there.lock(ORDER);
  const first = here.tryLock(ORDER, { wait: '10s' });
  await turn();
  const asked = accessor.calls.length;
  assert.equal(await drive(here.tryLock(ORDER, { wait: 40 }), 1), undefined);
  assert.equal(accessor.calls.length, asked, 'it never asks the store');
  assert.equal(clock.monotonicMs(), 40);
  assert.equal(await drive(first), undefined);
});

void test('a short wait shortens the time limit of a statement, but not below a second', async () => {
  const { here, accessor, clock, drive } = polledBench();
  accessor.fail('updateRecord', () => new Promise(() => {})); // The store hangs, until the caller stops waiting.
  accessor.fail('find', () => new Promise(() => {}));
  await assert.rejects(drive(here.tryLock(ORDER, { wait: '500ms' })), { code: 'CRONLATCH_STORAGE' });
  // This accessor keeps no limits, so cronlatch waits for each statement for twice its limit and a second.
  assert.ok(clock.monotonicMs() <= 6000, `it ended after ${clock.monotonicMs()} ms`);
});

void test('a store that notifies wakes its waiter at once: on release, forced release, deletion and expiry', async () => {
  const { provider, here, there, clock } = notifiedBench();
  const ends = {
    release: async () => void (await held?.unlock()),
    'forced release': async () => {
      const state = await provider.inspect('order');
      assert.ok(await provider.forceRelease('order', state?.lockedBy ?? ''));
    },
    deletion: () => Promise.resolve(provider.deleteRecord('order')),
    expiry: () => Promise.resolve(clock.advance('1s')),
  };
  let held = await there.tryLock({ ...ORDER, lockAtMostFor: '1s' });
  for (const [end, happens] of Object.entries(ends)) {
    const startedAtMs = clock.monotonicMs();
    const waiting = here.lock({ ...ORDER, lockAtMostFor: '1s' });
    await turn();
    await happens();
    held = await waiting;
    assert.equal(clock.monotonicMs() - startedAtMs, end === 'expiry' ? 1000 : 0, end);
  }
});

void test('a lost notification delays the waiter by five seconds at most', async () => {
  const { provider, there, clock } = notifiedBench();
  const silent: LockProvider = {
    lock: provider.lock.bind(provider),
    released: (_, signal) =>
      new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
  };
  const here = new LockManager(silent, { lockAtMostFor: '1m', clock });
  const held = await there.tryLock('order');
  const waiting = here.lock('order');
  await turn();
  await held?.unlock();
  clock.advance('5s');
  assert.ok(await waiting);
});

void test('a provider that notifies without a reason is not asked in a tight loop', async () => {
  const { provider, there, clock } = notifiedBench();
  let attempts = 0;
  const restless: LockProvider = {
    lock(configuration, observer) {
      attempts += 1;
      return provider.lock(configuration, observer);
    },
    released: () => Promise.resolve(),
  };
  const here = new LockManager(restless, { lockAtMostFor: '1m', clock });
  const held = await there.tryLock('order');
  const stop = new AbortController();
  const waiting = here.lock('order', { signal: stop.signal });
  for (let i = 0; i < 20; i += 1) await turn();
  assert.ok(attempts <= 6, `${attempts} attempts while the clock stood still`);
  await held?.unlock();
  clock.advance('50ms');
  assert.ok(await waiting);
});

void test('an invalid wait, name or duration is refused with a typed error, before anything is sent', async () => {
  const { here, accessor } = polledBench();
  for (const wait of [-1, NaN, 'soon', '5', '366d', Infinity, null as unknown as string])
    await assert.rejects(here.tryLock(ORDER, { wait }), InvalidLockConfigurationError);
  for (const name of ['', ' order', undefined as unknown as string])
    await assert.rejects(here.lock(name), InvalidLockConfigurationError);
  await assert.rejects(here.lock({ name: 'order', lockAtMostFor: 0 }), InvalidLockConfigurationError);
  assert.deepEqual(accessor.calls, []);
});

void test('isLocked asks the store, and refuses a provider that cannot answer', async () => {
  const { here, there, provider, clock } = polledBench();
  assert.equal(await here.isLocked('order'), false);
  const lock = await there.lock('order');
  assert.equal(await here.isLocked('order'), true);
  await lock.unlock();
  assert.equal(await here.isLocked('order'), false);
  const blind = new LockManager({ lock: (configuration) => provider.lock(configuration) }, { clock });
  await assert.rejects(blind.isLocked('order'), InvalidLockUseError);
});
