import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LockRecord, StorageAccessor } from 'cronlatch/provider';
import { executorBench, signal } from '../../support/benches/executor';
import { guardBench, runningJob } from '../../support/benches/guard';
import { JOB, lockBench, turn } from '../../support/benches/lock';
import { sendingLost } from '../../support/faults/accessor';

/** The answers of a server that has not applied the latest writes. */
const matchesNothing = (): Promise<boolean> => Promise.resolve(false);
const findsNothing = (): Promise<undefined> => Promise.resolve(undefined);

/** The record as a server shows it that lags behind, or that another holder has written since. */
const finds =
  (change: (record: LockRecord) => Partial<LockRecord>) =>
  async (run: () => Promise<unknown>): Promise<LockRecord> => {
    const record = (await run()) as LockRecord;
    return { ...record, ...change(record) };
  };

const older = finds(({ fencingToken }) => ({
  lockedBy: 'other/1/x',
  fencingToken: Number(fencingToken) - 1,
}));
const newer = finds(({ fencingToken }) => ({
  lockedBy: 'other/1/x',
  fencingToken: Number(fencingToken) + 1,
}));

const staleAnswers = {
  'an older row': older,
  'no row': findsNothing,
  'the row of this very lease': finds(() => ({})),
};

for (const [answer, find] of Object.entries(staleAnswers)) {
  void test(`a release that matches nothing during the lease is sent again if the locking read finds ${answer} (P4, F-78)`, async () => {
    const { accessor, store, drive, granted, other } = lockBench();
    const lock = await granted();
    accessor.fail('unlock', matchesNothing, matchesNothing);
    accessor.fail('find', find, find);
    assert.equal(await drive(lock.unlock()), true);
    assert.deepEqual(accessor.calls.slice(-5), ['unlock', 'find', 'unlock', 'find', 'unlock']);
    assert.equal((await store.find(JOB.name))?.held, false);
    assert.ok(await other.lock(JOB));
  });
}

const settling = {
  'a row with a higher token': newer,
  'the mark of a release by an operator': finds(({ lockedBy }) => ({
    lockedBy: `${lockedBy}/released`,
    held: false,
  })),
  'the end of the lease by the clock of the store': finds(() => ({ held: false })),
};

for (const [answer, find] of Object.entries(settling)) {
  void test(`a release that matches nothing is settled at once by ${answer} (P6)`, async () => {
    const { accessor, granted } = lockBench();
    const lock = await granted();
    accessor.fail('unlock', matchesNothing);
    accessor.fail('find', find);
    assert.equal(await lock.unlock(), false);
    assert.deepEqual(accessor.calls.slice(-2), ['unlock', 'find']);
  });
}

void test('without tokens, another owner settles a release if it locked the record later, and not if it did so earlier (P6)', async () => {
  const withoutTokens = async (lockedBefore: number): Promise<[boolean, number]> => {
    const { accessor, clock, drive, provider } = lockBench();
    accessor.fail('insertRecord', async (run) => {
      await run();
      return { fencingToken: undefined };
    });
    const lock = await provider.lock(JOB);
    assert.ok(lock);
    const lockedAt = new Date(clock.wallMs() - lockedBefore);
    clock.advance('1s');
    accessor.fail('unlock', matchesNothing);
    accessor.fail(
      'find',
      finds(() => ({ lockedBy: 'other/1/x', fencingToken: undefined, lockedAt })),
    );
    return [await drive(lock.unlock()), accessor.calls.filter((call) => call === 'unlock').length];
  };
  assert.deepEqual(await withoutTokens(-500), [false, 1]);
  assert.deepEqual(await withoutTokens(500), [true, 2]);
});

void test('an extension that matches nothing is a loss at once, and one release follows it (P2)', async () => {
  const { accessor, granted } = lockBench();
  const lock = await granted();
  accessor.fail('extend', matchesNothing);
  assert.equal(await lock.extend('10m'), false);
  assert.equal(lock.signal.aborted, true);
  accessor.fail('unlock', matchesNothing);
  accessor.fail('find', findsNothing);
  assert.equal(await lock.unlock(), false);
});

void test('with keepRows: false, a missing record settles a release (P6)', async () => {
  const { store, granted } = lockBench({ keepRows: false });
  const lock = await granted();
  store.delete(JOB.name);
  assert.equal(await lock.unlock(), false);
});

void test('a failed read does not make the lock of another holder count as released (P6)', async () => {
  const { accessor, drive, granted } = lockBench();
  const lock = await granted();
  accessor.fail('unlock', matchesNothing, matchesNothing);
  accessor.fail('find', sendingLost, newer);
  assert.equal(await drive(lock.unlock()), false);
});

/** From now on, the store answers as a server that never learns of the grant. */
function lagForever(store: StorageAccessor): void {
  Object.assign(store, { keepsRecords: true, unlock: matchesNothing, find: findsNothing });
}

void test('a release that a lagging server contradicts is reported at once, and nothing waits for it (F-78)', async () => {
  const { executor, names, emitted, store, clock, accessor } = executorBench();
  const startedAtMs = clock.monotonicMs();
  const result = await executor.executeWithLock(() => {
    lagForever(store);
    return Promise.resolve('done');
  }, JOB);
  assert.deepEqual(result, { executed: true, value: 'done' });
  assert.equal(clock.monotonicMs(), startedAtMs, 'the caller does not wait');
  assert.deepEqual(names(), ['lock:acquired', 'run:started', 'run:completed', 'guard:warning']);
  const [, warning] = emitted.at(-1) ?? [];
  const check = /Could not release lock 'job'.* only an older row.* same server.* wsrep_sync_wait/;
  assert.match(String(warning && 'message' in warning && warning.message), check);
  assert.deepEqual(executor.runs.active, []);
  accessor.calls.length = 0;
  const next = await executor.executeWithLock(() => assert.fail('ran'), JOB);
  assert.deepEqual(next, { executed: false, reason: 'locked' }, 'the store decides');
  assert.deepEqual(accessor.calls.slice(0, 1), ['updateRecord']);
  while (!names().includes('lock:releaseFailed')) {
    clock.advance('1s');
    await turn();
  }
  assert.ok(clock.monotonicMs() - startedAtMs >= 598_000, 'until the lease has ended');
  assert.equal(names().filter((name) => name === 'guard:warning').length, 1);
  const [, event] = emitted.at(-1) ?? [];
  assert.match(String((event as { error?: unknown }).error), check);
});

void test('a release that arrives after the next run of its job has begun does not end that run', async () => {
  const { executor, names, accessor, clock } = executorBench();
  accessor.fail('unlock', matchesNothing);
  accessor.fail('find', findsNothing);
  await executor.executeWithLock(() => {}, JOB);
  accessor.fail('updateRecord', () => Promise.resolve({ fencingToken: 7 })); // A server that does not know the first run.
  const { promise, resolve } = signal();
  const next = executor.executeWithLock(() => promise, JOB);
  await turn();
  clock.advance('1s');
  await turn();
  assert.ok(names().includes('lock:released'));
  const third = await executor.executeWithLock(() => assert.fail('ran'), JOB);
  assert.deepEqual(third, { executed: false, reason: 'running-here' });
  resolve();
  await next;
});

void test('a handler that has released its own lock still counts as running', async () => {
  const { executor, accessor, drive } = executorBench();
  accessor.fail('unlock', matchesNothing);
  accessor.fail('find', findsNothing);
  const { promise, resolve } = signal();
  const run = executor.executeWithLock(async (lock) => {
    void lock.unlock();
    await promise;
  }, JOB);
  await turn();
  assert.equal(executor.runs.active.length, 1);
  resolve();
  await drive(run);
});

void test('close does not wait for a delayed release, which then ends (F-13)', async () => {
  const { guard, lines, accessor, clock, names } = guardBench();
  const { finish, result } = await runningJob(guard);
  accessor.fail('unlock', ...Array.from({ length: 5000 }, () => matchesNothing));
  accessor.fail('find', ...Array.from({ length: 5000 }, () => findsNothing));
  finish();
  await result;
  const closedAtMs = clock.monotonicMs();
  assert.deepEqual(await guard.close(), { settled: [], abandoned: [] });
  assert.equal(clock.monotonicMs(), closedAtMs);
  clock.advance('2s');
  await turn();
  assert.ok(names().includes('lock:releaseFailed'));
  assert.equal(clock.pendingTimers, 0);
  assert.ok(!lines.join().includes('still running'), lines.join());
});

for (const [answer, find] of Object.entries({ 'an older row': older, 'no row': findsNothing }))
  void test(`on a server that cannot lag behind, a release that finds ${answer} is a loss at once (P6)`, async () => {
    const { executor, accessor, emitted, names, clock } = executorBench();
    Object.assign(accessor, { waitsForNodes: false });
    accessor.fail('unlock', matchesNothing);
    accessor.fail('find', find);
    const startedAtMs = clock.monotonicMs();
    await executor.executeWithLock(() => {}, JOB);
    assert.equal(clock.monotonicMs(), startedAtMs);
    assert.deepEqual(accessor.calls.slice(-2), ['unlock', 'find']);
    assert.deepEqual(names().slice(-2), ['guard:warning', 'lock:released']);
    assert.deepEqual(emitted.at(-1)?.[1], { name: 'job', scheduledAt: undefined, stillOurs: false });
    assert.deepEqual(executor.runs.active, []);
  });
