import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LockRecord, StorageAccessor } from 'cronlatch/provider';
import { executorBench } from '../../support/benches/executor';
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

void test('a release that the store contradicts until the lease ends is reported once, with what to check (F-78)', async () => {
  const { executor, names, emitted, store, clock, drive } = executorBench();
  const result = await drive(
    executor.executeWithLock(() => {
      lagForever(store);
      return Promise.resolve('done');
    }, JOB),
    1000,
  );
  assert.deepEqual(result, { executed: true, value: 'done' });
  const waitedMs = clock.monotonicMs();
  assert.ok(!names().includes('lock:releaseFailed'));
  while (!names().includes('lock:releaseFailed')) {
    assert.equal(executor.runs.active.length, 1);
    clock.advance('1s');
    await turn();
  }
  await turn();
  assert.equal(executor.runs.active.length, 0);
  assert.ok(waitedMs <= 11_000, `the caller waited ${waitedMs} ms`);
  assert.ok(clock.monotonicMs() >= 598_000, 'until the lease has ended');
  assert.deepEqual(names(), ['lock:acquired', 'run:started', 'run:completed', 'lock:releaseFailed']);
  const [, event] = emitted.at(-1) ?? [];
  const message = String((event as { error?: unknown }).error);
  assert.match(message, /Could not release lock 'job'.* only an older row.* same server.* wsrep_sync_wait/);
});
