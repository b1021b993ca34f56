// More of this subject: guard/leases-at-the-edge.test.ts, faults/ambiguous, faults/notice.test.ts, chaos/simulation, docs/life-of-a-lock-row.test.ts
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LockLostError, LockStorageError, SchemaMismatchError } from 'cronlatch';
import { JOB, lockBench, turn } from '../../support/benches/lock';
import {
  contended,
  delayedBy,
  refusedConnection,
  replyLost,
  sendingLost,
} from '../../support/faults/accessor';

void test('the lease is counted from just before its statement was sent, not from the reply (P2)', async () => {
  const { accessor, clock, granted } = lockBench();
  accessor.delay('insertRecord', () => clock.stall('2s'));
  assert.equal((await granted()).remainingMs(), 598_000);
});

void test('a wall clock that jumps by more than a tenth of the lease ends it (P2, F-15, F-20)', async () => {
  const { clock, granted } = lockBench();
  const lock = await granted();
  clock.jump(60_000);
  assert.equal(lock.signal.aborted, false);
  clock.jump(1);
  assert.equal(lock.signal.aborted, true);
  assert.match(String(lock.signal.reason), /suspended, or its clock was set forward, by 60001 ms/);
});

void test('a lease lasts no longer by the wall clock than by the monotonic clock (P2, F-15, F-28)', async () => {
  const { clock, granted } = lockBench();
  const lock = await granted();
  clock.advance('5m');
  clock.jump(59_000);
  assert.equal(lock.remainingMs(), 241_000);
  clock.stall('4m');
  assert.equal(lock.signal.aborted, false);
  clock.stall('1s');
  assert.equal(lock.remainingMs(), 0);
  assert.equal(lock.signal.aborted, true);
});

void test('the jump counts from the last confirmed renewal (P2, F-15)', async () => {
  const { clock, granted } = lockBench();
  const lock = await granted({ ...JOB, keepAlive: true });
  for (let renewals = 0; renewals < 5; renewals += 1) {
    clock.jump(59_000);
    clock.advance('200s');
    await turn();
  }
  assert.equal(lock.signal.aborted, false);
});

void test('an extension without a reply does not undo an earlier jump (P2, F-15)', async () => {
  const { accessor, clock, granted } = lockBench();
  const lock = await granted();
  clock.advance('5m');
  clock.jump(59_000);
  accessor.fail('extend', refusedConnection);
  await assert.rejects(lock.extend('290s'), { outcome: 'nothing-ran' });
  assert.equal(lock.remainingMs(), 241_000);
});

void test('a wall clock that is set back changes nothing (P2, F-20)', async () => {
  const { clock, granted } = lockBench();
  const lock = await granted();
  clock.jump(-86_400_000);
  clock.advance('9m');
  assert.equal(lock.signal.aborted, false);
  clock.advance('1m');
  assert.equal(lock.signal.aborted, true);
});

void test('an extension counts from its sending', async () => {
  const { accessor, clock, granted } = lockBench();
  const lock = await granted();
  accessor.delay('extend', () => clock.stall('3s'));
  assert.equal(await lock.extend('20m'), true);
  assert.equal(lock.remainingMs(), 1_197_000);
});

void test('an extension whose reply was lost is resent', async () => {
  const { accessor, granted, drive } = lockBench();
  const lock = await granted();
  accessor.fail('extend', replyLost, contended, sendingLost);
  assert.equal(await drive(lock.extend('20m')), true);
  assert.ok(lock.remainingMs() > 1_199_000);
});

void test('the holder waits for an unanswered extension no longer than its lease lasts (P2)', async () => {
  const { accessor, clock, granted } = lockBench();
  const lock = await granted({ ...JOB, lockAtMostFor: '3s' });
  clock.advance('2500ms');
  accessor.fail('extend', () => new Promise(() => {}));
  const extension = lock.extend('3s');
  extension.catch(() => {}); // Asserted below.
  await turn();
  clock.advance('500ms');
  const message = "The store did not answer for lock 'job' within 500 ms.";
  await assert.rejects(extension, { name: 'LockStorageError', message });
  assert.equal(lock.signal.aborted, true);
});

void test('an extension that may have shortened the lease counts as shortened until the store has replied', async () => {
  const { accessor, granted, drive } = lockBench();
  const lock = await granted();
  accessor.fail('extend', ...Array.from({ length: 100 }, () => replyLost));
  await assert.rejects(drive(lock.extend('1s')), LockStorageError);
  assert.equal(lock.signal.aborted || lock.remainingMs() <= 1000, true);
});

void test('an extension that was not sent is an error, and the old end stays in force', async () => {
  const { accessor, clock, granted } = lockBench();
  const lock = await granted();
  accessor.fail('extend', refusedConnection);
  await assert.rejects(lock.extend('20m'), { outcome: 'nothing-ran' });
  clock.advance('9m');
  assert.equal(lock.signal.aborted, false);
});

void test('an invalid extension is refused (F-82)', async () => {
  const { granted } = lockBench();
  const lock = await granted();
  await assert.rejects(lock.extend('0s'), /extension of lock 'job' is "0s"/);
  await assert.rejects(lock.extend('soon'), /not a duration/);
});

for (const [what, faults] of [
  ['whose reply was lost', [replyLost]],
  ['that did not arrive', [sendingLost]],
  ['that met a deadlock', [contended, contended]],
  ['that could not connect', [refusedConnection, refusedConnection]],
] as const) {
  void test(`a release ${what} still returns true, and frees the lock`, async () => {
    const { accessor, other, granted, drive } = lockBench();
    const lock = await granted();
    accessor.fail('unlock', ...faults);
    assert.equal(await drive(lock.unlock()), true);
    assert.ok(await other.lock(JOB));
  });
}

for (const failedReads of [1, 2]) {
  void test(`a release whose reply was lost, followed by ${failedReads} failed reads, still returns true (F-39)`, async () => {
    const { accessor, granted, drive } = lockBench();
    const lock = await granted();
    accessor.fail('unlock', replyLost);
    accessor.fail('find', ...Array.from({ length: failedReads }, () => sendingLost));
    assert.equal(await drive(lock.unlock()), true);
  });
}

void test('a release that is lost until the lease has expired does not return true (F-39)', async () => {
  const { accessor, clock, granted, drive } = lockBench();
  const lock = await granted();
  accessor.fail('unlock', sendingLost);
  accessor.fail('find', () => {
    clock.stall('9m');
    clock.stall('59900ms');
    return Promise.reject(new LockStorageError('sending lost', { outcome: 'unknown' }));
  });
  accessor.delay('unlock', () => void clock.stall('1s'));
  assert.equal(await drive(lock.unlock()), false);
});

void test('a release that cannot be written until the lease has expired is an error', async () => {
  const { accessor, clock, other, granted, drive } = lockBench();
  const lock = await granted();
  accessor.fail('unlock', ...Array.from({ length: 2000 }, () => refusedConnection));
  await assert.rejects(drive(lock.unlock(), 500), { outcome: 'nothing-ran' });
  clock.advance('2s');
  assert.ok(await other.lock(JOB));
});

void test('a release whose outcome cannot be read is resent', async () => {
  const { accessor, other, granted, drive } = lockBench();
  const lock = await granted();
  accessor.fail('unlock', sendingLost);
  accessor.fail('find', refusedConnection);
  assert.equal(await drive(lock.unlock()), true);
  assert.ok(await other.lock(JOB));
});

for (const [what, faults] of [
  ['', []],
  [', even if the outcome cannot be read at once', [refusedConnection]],
] as const) {
  void test(`a release that arrives after its successor was sent returns true${what}`, async () => {
    const { accessor, granted, drive } = lockBench();
    const lock = await granted();
    let arrive = (): Promise<unknown> => Promise.resolve();
    accessor.fail('unlock', (run) => {
      arrive = run;
      return Promise.reject(new LockStorageError('no answer', { outcome: 'unknown' }));
    });
    accessor.delay('unlock', async () => void (await arrive()));
    accessor.fail(
      'find',
      delayedBy(() => {}),
      ...faults,
    );
    assert.equal(await drive(lock.unlock()), true);
  });
}

for (const [what, isTakenOver] of [
  ['by no other holder', false],
  ['by another holder', true],
] as const) {
  void test(`a release after the end of the lease returns false, even if its reply is lost: taken over ${what} (P6)`, async () => {
    const { accessor, clock, granted, drive, other } = lockBench();
    const lock = await granted();
    clock.stall('11m');
    if (isTakenOver) assert.ok(await other.lock(JOB));
    accessor.fail('unlock', replyLost);
    assert.equal(await drive(lock.unlock()), false);
  });
}

void test('a release that the schema forbids is not retried, and if nothing waits for it, does not end the process', async (t) => {
  const { accessor, granted } = lockBench();
  const lock = await granted();
  accessor.fail('unlock', () => Promise.reject(new SchemaMismatchError('gone', { outcome: 'nothing-ran' })));
  const unhandled = t.mock.fn();
  process.on('unhandledRejection', unhandled);
  t.after(() => process.off('unhandledRejection', unhandled));
  void lock.unlock();
  await turn();
  assert.equal(unhandled.mock.callCount(), 0);
  await assert.rejects(lock.unlock(), { message: 'gone' });
});

void test('with lockAtLeastFor = lockAtMostFor the release needs no statement, unless the lease was extended', async () => {
  const { accessor, clock, granted } = lockBench();
  const always = { ...JOB, lockAtLeastFor: JOB.lockAtMostFor };
  assert.equal(await (await granted(always)).unlock(), true);
  assert.ok(!accessor.calls.includes('unlock'));
  clock.advance('10m');
  const extended = await granted(always);
  await extended.extend('20m');
  assert.equal(await extended.unlock(), true);
  assert.ok(accessor.calls.includes('unlock'));
});

void test('a release waits for an extension in progress, so that neither undoes the other', async () => {
  const { accessor, other, granted } = lockBench();
  const lock = await granted();
  const [extended, released] = await Promise.all([lock.extend('1h'), lock.unlock()]);
  assert.deepEqual([extended, released], [false, true]);
  assert.deepEqual(accessor.calls.slice(-1), ['unlock']);
  assert.ok(await other.lock(JOB));
});

void test('after its release or its end a lease is not extended or released again, and no statement is sent (F-82)', async () => {
  const { accessor, clock, granted } = lockBench();
  const released = await granted();
  assert.equal(await released.unlock(), true);
  const over = await granted({ ...JOB, name: 'over' });
  clock.stall('11m');
  accessor.calls.length = 0;
  assert.equal(await released.unlock(), true);
  assert.equal(await released.extend('10m'), false);
  assert.equal(await over.extend('10m'), false);
  assert.deepEqual(accessor.calls, []);
});

void test('a released lease leaves no timer behind', async () => {
  const { clock, granted } = lockBench();
  await (await granted({ ...JOB, keepAlive: true })).unlock();
  assert.equal(clock.pendingTimers, 0);
});

const KEPT = { ...JOB, keepAlive: true } as const;

void test('a renewal that fails causes a warning and is retried, and the lease stays in force', async () => {
  const { accessor, clock, provider } = lockBench();
  const warnings: string[] = [];
  const lock = await provider.lock(KEPT, { warning: (message) => warnings.push(message) });
  accessor.fail('extend', refusedConnection, sendingLost);
  for (let minute = 0; minute < 30; minute += 1) {
    clock.advance('1m');
    await turn();
  }
  assert.equal(lock?.signal.aborted, false);
  assert.equal(warnings.length, 2);
  assert.match(warnings[0] ?? '', /'job' could not be renewed/);
});

void test('a renewal that fails until the deadline loses the lease, and is not retried afterwards', async () => {
  const { accessor, clock, provider } = lockBench();
  const lock = await provider.lock(KEPT);
  accessor.fail('extend', ...Array.from({ length: 1000 }, () => refusedConnection));
  for (let second = 0; second < 600; second += 1) {
    clock.advance('1s');
    await turn();
  }
  assert.equal(lock?.signal.aborted, true);
  assert.equal(clock.pendingTimers, 0);
  assert.ok(accessor.calls.filter((call) => call === 'extend').length > 3);
});

void test('a renewal that finds another holder aborts the signal at once', async () => {
  const { clock, store, provider } = lockBench();
  const lost: LockLostError[] = [];
  const lock = await provider.lock(KEPT, { lost: (error) => lost.push(error) });
  store.delete(JOB.name);
  clock.advance('200s');
  await turn();
  assert.equal(lock?.signal.aborted, true);
  assert.match(
    lost[0]?.message ?? '',
    /'job' was lost while its job was running: its record no longer belongs/,
  );
});

void test('a renewal keeps the length that the job has set with extend', async () => {
  const { clock, provider } = lockBench();
  const lengths: number[] = [];
  const lock = await provider.lock(KEPT, { extended: (ms) => lengths.push(ms) });
  await lock?.extend('1h');
  clock.advance('200s');
  await turn();
  assert.deepEqual(lengths, [3_600_000, 3_600_000]);
});

void test('a renewal in progress when the job ends does not outlive the release', async () => {
  const { accessor, clock, other, provider } = lockBench();
  const lock = await provider.lock(KEPT);
  let answer = (): void => {};
  accessor.delay('extend', () => new Promise<void>((resolve) => (answer = resolve)));
  clock.advance('200s');
  await turn();
  const released = lock?.unlock();
  answer();
  assert.equal(await released, true);
  assert.ok(await other.lock(JOB));
  assert.equal(clock.pendingTimers, 1); // The deadline of the other's lease.
});
