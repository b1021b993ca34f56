import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockConfigurationError, InvalidLockUseError, JobSkippedError, refreshOnce } from 'cronlatch';
import type { LockManager } from 'cronlatch';
import type { RefreshOptions } from 'cronlatch/provider';
import { signal } from '../../support/benches/executor';
import { turn } from '../../support/benches/lock';
import { refusedConnection } from '../../support/faults/accessor';
import { polledBench } from './bench';

interface Token {
  readonly text: string;
  readonly issuedAtMs: number;
}

/** A token that is fresh for a minute and usable for two, shared by two processes. */
function tokenBench() {
  const bench = polledBench();
  const { clock } = bench;
  const shared: { token: Token | undefined; refreshes: number } = { token: undefined, refreshes: 0 };
  const ageOf = (token: Token): number => clock.monotonicMs() - token.issuedAtMs;
  const refresh = (): Token => {
    shared.refreshes += 1;
    return (shared.token = { text: `token ${shared.refreshes}`, issuedAtMs: clock.monotonicMs() });
  };
  const tokenFrom = async (
    manager: LockManager,
    changes: Partial<RefreshOptions<Token>> = {},
  ): Promise<string> => {
    const options: RefreshOptions<Token> = {
      ...{ manager, name: 'token', lockAtMostFor: '10s', wait: '5s', refresh },
      read: () => shared.token,
      isFresh: (token) => ageOf(token) < 60_000,
      isUsable: (token) => ageOf(token) < 120_000,
      ...changes,
    };
    return (await refreshOnce(options)).text;
  };
  return { ...bench, shared, refresh, tokenFrom };
}

void test('a fresh value is returned without a lock', async () => {
  const { here, shared, refresh, tokenFrom, accessor } = tokenBench();
  refresh();
  assert.equal(await tokenFrom(here), 'token 1');
  assert.equal(shared.refreshes, 1);
  assert.deepEqual(accessor.calls, []);
});

void test('a value going stale: one call refreshes it, and all others get the old one at once', async () => {
  const { here, there, shared, refresh, tokenFrom, clock, accessor } = tokenBench();
  refresh();
  clock.advance('61s');
  const { promise, resolve } = signal();
  const slowly = { refresh: () => promise.then(refresh) };
  const refresher = tokenFrom(here, slowly);
  await turn();
  accessor.calls.length = 0;
  const others = [tokenFrom(here, slowly), tokenFrom(there, slowly), tokenFrom(here, slowly)];
  assert.deepEqual(await Promise.all(others), ['token 1', 'token 1', 'token 1']);
  assert.deepEqual(accessor.calls, [], 'calls of the refreshing process send nothing');
  resolve();
  assert.equal(await refresher, 'token 2');
  assert.equal(shared.refreshes, 2);
});

void test('without a usable value, one call refreshes it, and the others wait', async () => {
  const { here, there, shared, refresh, tokenFrom, drive, accessor } = tokenBench();
  const { promise, resolve } = signal();
  const slowly = { refresh: () => promise.then(refresh) };
  const calls = [here, here, here, there, there].map((manager) => tokenFrom(manager, slowly));
  await turn();
  resolve();
  assert.deepEqual(new Set(await drive(Promise.all(calls))), new Set(['token 1']));
  assert.equal(shared.refreshes, 1);
  assert.equal(accessor.calls.filter((call) => call === 'unlock').length, 1, 'one lock for three calls');
});

void test('a value that another process has refreshed before the lock was granted is returned as it is', async () => {
  const { here, shared, refresh, tokenFrom, accessor } = tokenBench();
  accessor.delay('updateRecord', () => void refresh());
  assert.equal(await tokenFrom(here), 'token 1');
  assert.equal(shared.refreshes, 1);
});

void test('a refresh that fails leaves the usable value, and reports the error', async () => {
  const { here, refresh, tokenFrom, clock, accessor, warnings } = tokenBench();
  refresh();
  clock.advance('61s');
  const errors: unknown[] = [];
  const failing = {
    refresh: () => Promise.reject(new Error('bank is closed')),
    onError: (error: unknown) => void errors.push(error),
  };
  assert.equal(await tokenFrom(here, failing), 'token 1');
  assert.match(String(errors[0]), /bank is closed/);
  accessor.fail('updateRecord', refusedConnection);
  assert.equal(await tokenFrom(here, failing), 'token 1', 'also when the lock fails');
  assert.equal(errors.length, 2);
  assert.equal(warnings.length, 0);
  assert.equal(await tokenFrom(here, { refresh: failing.refresh }), 'token 1');
  assert.match(String(warnings[0]?.error), /bank is closed/, 'without onError, an event reports it');
  assert.equal(await tokenFrom(here), 'token 2', 'the next call tries again');
});

void test('a refresh that fails after the old value has expired rejects', async () => {
  const { here, refresh, tokenFrom, clock } = tokenBench();
  refresh();
  clock.advance('119s');
  const failing = {
    refresh() {
      clock.advance('2s');
      return Promise.reject(new Error('bank is closed'));
    },
  };
  await assert.rejects(tokenFrom(here, failing), /bank is closed/);
});

void test('without a usable value, the error rejects every call of the process that waited for it', async () => {
  const { here, there, shared, tokenFrom, drive } = tokenBench();
  const { promise, reject } = signal<Token>();
  const calls = [here, here].map((manager) => tokenFrom(manager, { refresh: () => promise }));
  await turn();
  const elsewhere = tokenFrom(there);
  await turn();
  reject(new Error('bank is closed'));
  for (const call of calls) await assert.rejects(call, /bank is closed/);
  assert.equal(await drive(elsewhere), 'token 1', 'another process then tries itself');
  assert.equal(shared.refreshes, 1);
});

void test('a call waits for wait at most, whether for another process or another call', async () => {
  const { here, there, tokenFrom, drive, clock } = tokenBench();
  const { promise, resolve } = signal<Token>();
  const hanging = tokenFrom(there, { refresh: () => promise, lockAtMostFor: '10m' });
  await turn();
  const elsewhere = tokenFrom(here);
  const sibling = tokenFrom(there, { wait: '1s' });
  await assert.rejects(drive(sibling), JobSkippedError);
  assert.equal(clock.monotonicMs(), 1000);
  await assert.rejects(drive(elsewhere), { code: 'CRONLATCH_JOB_SKIPPED', reason: 'locked' });
  assert.equal(clock.monotonicMs(), 5000);
  resolve({ text: 'late', issuedAtMs: 0 });
  assert.equal(await hanging, 'late');
});

void test('a call that could not refresh reads once more', async () => {
  const { here, there, shared, tokenFrom, drive, clock } = tokenBench();
  await there.lock('token');
  const waiting = tokenFrom(here);
  await turn();
  shared.token = { text: 'from elsewhere', issuedAtMs: clock.monotonicMs() };
  assert.equal(await drive(waiting), 'from elsewhere');
});

void test('inside its own lock, a call does not wait for another one', async () => {
  const { here, shared, tokenFrom, clock } = tokenBench();
  const { promise, resolve } = signal();
  const inside = here.withLock('token', () => promise.then(() => tokenFrom(here)));
  await turn();
  const waiting = tokenFrom(here);
  await turn();
  resolve();
  assert.deepEqual(await Promise.all([inside, waiting]), ['token 1', 'token 1']);
  assert.equal(clock.monotonicMs(), 0);
  assert.equal(shared.refreshes, 1);
});

void test('a hundred processes refresh a value once per lifetime', async () => {
  const { here, there, shared, tokenFrom, drive, clock } = tokenBench();
  for (let lifetime = 1; lifetime <= 5; lifetime += 1) {
    const calls = Array.from({ length: 100 }, (_, i) => tokenFrom(i % 2 ? here : there));
    await drive(Promise.all(calls));
    assert.equal(shared.refreshes, lifetime);
    clock.advance(lifetime % 2 ? '61s' : '2m');
  }
});

void test('a wrong manager or wait is refused before anything is read', async () => {
  const { here, tokenFrom } = tokenBench();
  const read = (): never => assert.fail('read');
  await assert.rejects(tokenFrom({} as LockManager, { read }), InvalidLockUseError);
  await assert.rejects(tokenFrom(here, { read, wait: '-1s' }), InvalidLockConfigurationError);
});
