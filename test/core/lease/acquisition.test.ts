import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LockStorageError } from 'cronlatch';
import { EventHub, LockingTaskExecutor, StorageBasedLockProvider } from 'cronlatch/provider';
import type { LockObserver, LockRecord, StorageAccessor } from 'cronlatch/provider';
import { CallReport } from '#cronlatch/core/execution/event-hub';
import { JOB, lockBench, turn } from '../../support/benches/lock';
import {
  contended,
  refusedConnection,
  replyLost,
  sendingLost,
  sentLate,
  strangeError,
} from '../../support/faults/accessor';

void test('the first grant inserts the row, and every later grant updates it', async () => {
  const { accessor, granted } = lockBench();
  await (await granted()).unlock();
  await (await granted()).unlock();
  assert.deepEqual(accessor.calls, ['updateRecord', 'insertRecord', 'unlock', 'updateRecord', 'unlock']);
});

void test('a refused tick costs one statement, and once a minute a read of the holder', async () => {
  const { accessor, provider, clock, granted } = lockBench();
  await granted();
  const holders: { heldBy: string; heldUntil: Date }[] = [];
  const observer: LockObserver = { refused: (holder) => holders.push(holder) };
  accessor.calls.length = 0;
  for (let tick = 0; tick < 5; tick += 1) {
    assert.equal(await provider.lock(JOB, observer), undefined);
    clock.advance('20s');
  }
  assert.deepEqual(accessor.calls, [
    'updateRecord',
    'find',
    'updateRecord',
    'updateRecord',
    'updateRecord',
    'find',
    'updateRecord',
  ]);
  assert.equal(holders.length, 2);
  assert.match(holders[0]?.heldBy ?? '', new RegExp(`/${process.pid}/[0-9a-f-]{36}$`));
  assert.equal(holders[0]?.heldUntil.toISOString(), '2026-11-20T03:10:00.000Z');
});

void test('the loser of a first insert is refused', async () => {
  const { accessor, provider, other } = lockBench();
  accessor.delay('insertRecord', async () => void (await other.lock(JOB)));
  assert.equal(await provider.lock(JOB), undefined);
});

for (const method of ['updateRecord', 'insertRecord'] as const) {
  void test(`${method}: a grant whose reply was lost is found again, with its token and a deadline counted from its sending`, async () => {
    const { accessor, provider, clock, store } = lockBench();
    if (method === 'updateRecord') await (await provider.lock(JOB))?.unlock();
    accessor.fail(method, replyLost);
    accessor.delay('find', () => clock.advance('1s'));
    const lock = await provider.lock(JOB);
    assert.equal(lock?.fencingToken, (await store.find(JOB.name))?.fencingToken);
    assert.equal(lock?.remainingMs(), 599_000);
  });

  void test(`${method}: a statement that did not arrive is resent, with the same owner`, async () => {
    const { accessor, provider, store, drive } = lockBench();
    if (method === 'updateRecord') await (await provider.lock(JOB))?.unlock();
    accessor.fail(method, sendingLost);
    const lock = await drive(provider.lock(JOB));
    assert.equal(lock?.fencingToken, (await store.find(JOB.name))?.fencingToken);
  });

  void test(`${method}: a statement that takes effect only after it was resent is granted, counted from its own sending`, async () => {
    const { accessor, provider, clock, drive } = lockBench();
    if (method === 'updateRecord') await (await provider.lock(JOB))?.unlock();
    const late = sentLate(accessor, method);
    accessor.delay('find', () => clock.advance('1s'));
    accessor.delay(method, async () => void (await late.arrive()));
    const lock = await drive(provider.lock(JOB));
    assert.ok(lock !== undefined && lock.remainingMs() <= 599_000);
  });

  void test(`${method}: a statement that is lost every time is an error, and is released in case it arrives later`, async () => {
    const { accessor, provider, clock, drive } = lockBench();
    if (method === 'updateRecord') await (await provider.lock(JOB))?.unlock();
    accessor.fail(method, sendingLost, sendingLost, sendingLost);
    await assert.rejects(drive(provider.lock(JOB)), { message: 'sending lost' });
    accessor.calls.length = 0;
    clock.advance('5s');
    assert.deepEqual(accessor.calls, ['unlock']);
  });
}

void test('a grant that the store knows only by its owner counts from the first statement that may have written it', async () => {
  const { accessor, provider, clock, drive } = lockBench();
  await (await provider.lock(JOB))?.unlock();
  const late = sentLate(accessor, 'updateRecord');
  accessor.fail('updateRecord', late.arrive);
  accessor.delay('find', () => clock.advance('1s'));
  const lock = await drive(provider.lock(JOB));
  assert.ok(lock !== undefined && lock.remainingMs() <= 599_000);
});

void test('a statement that takes effect only after the release of the resent one is released, too', async () => {
  const { accessor, provider, other, clock, drive } = lockBench();
  await (await provider.lock(JOB))?.unlock();
  const late = sentLate(accessor, 'updateRecord');
  const lock = await drive(provider.lock(JOB));
  await lock?.unlock();
  await late.arrive();
  assert.equal(await other.lock(JOB), undefined, 'granted without a holder');
  clock.advance('5s');
  await turn();
  assert.ok(await other.lock(JOB));
});

void test('a statement that takes effect only after its late release is found by the next read, and released (F-41)', async () => {
  const { accessor, provider, other, clock, drive } = lockBench();
  await (await provider.lock(JOB))?.unlock();
  const late = [1, 2, 3].map(() => sentLate(accessor, 'updateRecord'));
  await assert.rejects(drive(provider.lock(JOB)));
  clock.advance('5s');
  await turn();
  assert.equal(typeof (await late[2]?.arrive()), 'object');
  assert.equal(await other.lock(JOB), undefined, 'granted without a holder');
  const warnings: string[] = [];
  const lock = await provider.lock(JOB, { warning: (message) => warnings.push(message) });
  assert.ok(lock);
  assert.match(warnings[0] ?? '', /^A delayed statement of this process took lock 'job' after /);
  assert.equal(await lock.unlock(), true);
});

void test('a read that fails makes the tick an error, because it is unknown whether the lock exists', async () => {
  const { accessor, provider, drive, granted } = lockBench();
  await granted();
  accessor.fail('find', refusedConnection);
  await assert.rejects(drive(provider.lock(JOB)), { outcome: 'nothing-ran' });
});

void test('if the store answers so slowly that no time is left for the insert, nothing more is sent', async () => {
  const { accessor, provider, clock } = lockBench();
  accessor.delay('updateRecord', () => clock.stall('6s'));
  await assert.rejects(provider.lock(JOB), {
    message:
      "Could not request lock 'job': earlier statements took the whole time limit. Check why the database is slow.",
    outcome: 'nothing-ran',
  });
  assert.deepEqual(accessor.calls, ['updateRecord']);
});

void test('a lost reply is a refusal if another holder then has the lock', async () => {
  const { accessor, provider, other } = lockBench();
  await (await provider.lock(JOB))?.unlock();
  accessor.fail('updateRecord', async () => {
    await other.lock(JOB);
    return await sendingLost(() => Promise.resolve());
  });
  assert.equal(await provider.lock(JOB), undefined);
});

void test('an outcome that cannot be found out within two statement limits is an error', async () => {
  const { accessor, provider, clock, drive } = lockBench();
  accessor.fail('updateRecord', replyLost);
  accessor.fail('find', ...Array.from({ length: 50 }, () => refusedConnection));
  const startedAtMs = clock.monotonicMs();
  await assert.rejects(drive(provider.lock(JOB)), LockStorageError);
  assert.ok(clock.monotonicMs() - startedAtMs <= 10_000);
});

void test('a statement is tried three times on contention, then one read decides', async () => {
  const { accessor, provider, other, drive } = lockBench();
  await other.lock(JOB);
  accessor.fail('updateRecord', contended, contended, contended);
  assert.equal(await drive(provider.lock(JOB)), undefined);
  assert.deepEqual(accessor.calls, ['updateRecord', 'updateRecord', 'updateRecord', 'find']);
});

void test('contention behind an own statement that took effect late is a grant, not a lock of another process', async () => {
  const { accessor, provider, clock, store, drive } = lockBench();
  await (await provider.lock(JOB))?.unlock();
  const late = sentLate(accessor, 'updateRecord');
  accessor.fail('updateRecord', contended, async (run) => {
    await late.arrive();
    clock.advance('1s');
    return await contended(run);
  });
  const lock = await drive(provider.lock(JOB));
  assert.equal(lock?.fencingToken, (await store.find(JOB.name))?.fencingToken);
  assert.ok(lock !== undefined && lock.remainingMs() <= 599_000);
});

void test('contention on a free lock ends in an error, never in a skip', async () => {
  const { accessor, provider, drive } = lockBench();
  accessor.fail('updateRecord', contended, contended, contended);
  await assert.rejects(drive(provider.lock(JOB)), { code: 'CRONLATCH_STORAGE', outcome: 'contention' });
});

void test('contention that passes has no effect', async () => {
  const { accessor, provider, drive } = lockBench();
  accessor.fail('updateRecord', contended);
  accessor.fail('insertRecord', contended);
  assert.ok(await drive(provider.lock(JOB)));
});

void test('an unreachable store is an error at once', async () => {
  const { accessor, provider } = lockBench();
  accessor.fail('updateRecord', refusedConnection);
  await assert.rejects(provider.lock(JOB), { outcome: 'nothing-ran' });
  assert.deepEqual(accessor.calls, ['updateRecord']);
});

for (const later of [[refusedConnection], [contended, contended]])
  void test(`after a statement that may still arrive, ${later.length} more that do nothing do not settle the outcome`, async () => {
    const { accessor, provider, drive } = lockBench();
    await (await provider.lock(JOB))?.unlock();
    accessor.fail('updateRecord', sendingLost, ...later);
    await assert.rejects(drive(provider.lock(JOB)), { code: 'CRONLATCH_STORAGE', outcome: 'unknown' });
  });

void test('an error without an outcome counts as an unknown outcome', async () => {
  const { accessor, provider, drive } = lockBench();
  accessor.fail('updateRecord', strangeError, strangeError, strangeError);
  await assert.rejects(
    drive(provider.lock(JOB)),
    (error) => error instanceof LockStorageError && error.cause instanceof TypeError,
  );
  assert.deepEqual(accessor.calls, ['updateRecord', 'find', 'updateRecord', 'find', 'updateRecord', 'find']);
});

for (const [keepAlive, takes, isKept] of [
  [false, '8m', false],
  [true, '8m', true],
  [true, '11m', false],
] as const)
  void test(`a grant of 10 minutes that arrives after ${takes}, ${keepAlive ? 'with' : 'without'} a keep-alive, is ${isKept ? 'kept' : 'released, and is an error'}`, async () => {
    const { accessor, provider, other, clock } = lockBench();
    accessor.delay('insertRecord', () => clock.stall(takes));
    const locked = provider.lock({ ...JOB, keepAlive });
    if (isKept) return assert.ok(await locked);
    await assert.rejects(locked, /granted too late: .* Set a longer lockAtMostFor\.$/);
    assert.ok(await other.lock(JOB));
  });

for (const [lockAtLeastFor, isRefused] of [
  ['1s', true],
  ['3s', false],
  [0, false],
] as const)
  void test(`on a node that lagged for 2 s, a grant with lockAtLeastFor ${lockAtLeastFor} is ${isRefused ? 'released, and is an error' : 'kept'}`, async () => {
    const { accessor, provider, other, clock } = lockBench();
    Object.assign(accessor, { waitsForNodes: true });
    accessor.delay('updateRecord', () => clock.stall('2s'));
    const locked = provider.lock({ ...JOB, lockAtLeastFor });
    if (!isRefused) return assert.ok(await locked);
    await assert.rejects(
      locked,
      /granted too late: after 2000 ms, longer than its lockAtLeastFor of 1000 ms\./,
    );
    clock.advance('1s');
    assert.ok(await other.lock(JOB));
  });

void test('a provider that closes releases a lock that was granted without a holder, and sends nothing afterwards (F-96)', async () => {
  const { accessor, provider, other, clock, drive } = lockBench();
  accessor.fail('insertRecord', replyLost);
  accessor.fail('find', ...Array.from({ length: 100 }, () => sendingLost));
  await assert.rejects(drive(provider.lock(JOB)));
  assert.equal(await other.lock(JOB), undefined, 'granted without a holder');
  await drive(provider.close());
  assert.ok(await other.lock(JOB));
  accessor.calls.length = 0;
  clock.advance('1m');
  assert.deepEqual(accessor.calls, []);
});

void test('a provider that closes waits until the store has aborted statements that could still be granted', async () => {
  const { accessor, provider, other, clock, drive } = lockBench();
  const late = [1, 2, 3].map(() => sentLate(accessor, 'insertRecord'));
  await assert.rejects(drive(provider.lock(JOB)));
  const closing = provider.close();
  await turn();
  clock.advance('3s');
  assert.ok(await late[2]?.arrive());
  assert.equal(await other.lock(JOB), undefined, 'granted without a holder');
  await drive(closing);
  assert.ok(await other.lock(JOB));
});

/** A lock that may still be granted, although its caller has stopped waiting. */
async function benchOfLateGrant() {
  const bench = lockBench();
  bench.accessor.fail('insertRecord', sendingLost, sendingLost, sendingLost);
  await assert.rejects(bench.drive(bench.provider.lock(JOB)));
  return bench;
}

void test('a provider that closes waits for a release in progress', async () => {
  const { accessor, provider, clock } = await benchOfLateGrant();
  let isReleased = false;
  accessor.fail('unlock', async (run) => {
    await turn();
    isReleased = true;
    return await run();
  });
  clock.advance('5s');
  await provider.close();
  assert.equal(isReleased, true);
});

void test('a provider that closes does not wait for an unreachable store', async () => {
  const { accessor, provider, clock, drive } = await benchOfLateGrant();
  accessor.fail('unlock', refusedConnection, refusedConnection);
  const beganMs = clock.monotonicMs();
  await drive(provider.close());
  assert.ok(clock.monotonicMs() - beganMs <= 4500);
});

void test('a provider that closes sends nothing after a stall for which the guard does not wait', async () => {
  const { accessor, provider, clock, drive } = await benchOfLateGrant();
  accessor.fail('unlock', refusedConnection);
  const closing = provider.close();
  await turn();
  accessor.calls.length = 0;
  clock.stall('6s');
  clock.advance('1ms');
  await drive(closing);
  assert.deepEqual(accessor.calls, []);
});

void test('deleting the record of a free lock costs no tick (P4)', async () => {
  const { provider, other, store } = lockBench();
  const lock = await other.lock(JOB);
  for (let tick = 0; tick < 2; tick += 1) assert.equal(await provider.lock(JOB), undefined);
  await lock?.unlock();
  store.delete(JOB.name);
  assert.ok(await provider.lock(JOB));
});

void test('if the store cannot report a missing record, the first tick after the known end of the lease checks for it (P4)', async () => {
  const { accessor, provider, other, store, clock } = lockBench();
  const cannotTell = async (run: () => Promise<unknown>): Promise<unknown> => {
    const answer = await run();
    return typeof answer === 'object' ? answer : undefined;
  };
  accessor.fail('updateRecord', ...Array.from({ length: 10 }, () => cannotTell));
  await other.lock({ ...JOB, lockAtMostFor: '10s' });
  for (let tick = 0; tick < 2; tick += 1) assert.equal(await provider.lock(JOB), undefined);
  store.delete(JOB.name);
  clock.advance('10s');
  assert.ok(await provider.lock(JOB));
});

void test('an insert that is dropped without an error is not a refusal, because the lock is free (P7)', async () => {
  const { accessor, provider } = lockBench();
  accessor.fail('insertRecord', ...Array.from({ length: 3 }, () => () => Promise.resolve(undefined)));
  for (let tick = 0; tick < 3; tick += 1) {
    await assert.rejects(provider.lock(JOB), {
      outcome: 'nothing-ran',
      message: /insert the record of lock 'job', .* trigger/,
    });
  }
  assert.ok(await provider.lock(JOB));
});

void test('a lock that is held longer than any lease causes one warning per name (F-62)', async () => {
  const { accessor, clock, provider, other } = lockBench();
  await other.lock({ ...JOB, lockAtMostFor: '365d' });
  await other.lock({ ...JOB, name: 'usual' });
  const warnings: string[] = [];
  const observer: LockObserver = { warning: (message) => warnings.push(message) };
  const heldFor = (ms: number) => async (run: () => Promise<unknown>) => {
    const record = (await run()) as LockRecord;
    return { ...record, lockUntil: new Date(clock.wallMs() + ms) };
  };
  await provider.lock({ ...JOB, name: 'usual' }, observer);
  assert.deepEqual(warnings, []);
  for (let minute = 0; minute < 3; minute += 1) {
    accessor.fail('find', heldFor(400 * 86_400_000));
    await provider.lock(JOB, observer);
    clock.advance('1m');
  }
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', /^Lock 'job' is held until 2027-12-25T\S+ by .* longer than any lease/);
});

void test('at most ten thousand names are remembered (F-68)', async () => {
  const { accessor, provider } = lockBench();
  const lockOf = async (name: string): Promise<void> =>
    void (await (await provider.lock({ ...JOB, name }))?.unlock());
  for (let i = 0; i <= 10_000; i += 1) await lockOf(`name-${i}`);
  accessor.calls.length = 0;
  await lockOf('name-1');
  await provider.lock({ ...JOB, name: 'name-1' });
  await provider.lock({ ...JOB, name: 'name-1' });
  // A forgotten name costs one more statement, and no more.
  assert.deepEqual(accessor.calls, ['updateRecord', 'unlock', 'updateRecord', 'updateRecord', 'find']);
});

/** A store in which each write waits for a connection, and for how long it may. */
function busyStore(waitsFor: string, more: Partial<StorageAccessor> = {}) {
  const bench = lockBench();
  const allowedMs: (number | undefined)[] = [];
  const busy = Object.assign(Object.create(bench.store) as StorageAccessor, {
    keepsTimeLimits: true,
    waitsForNodes: false,
    ...more,
    updateRecord: (...[request, options]: Parameters<StorageAccessor['updateRecord']>) => {
      allowedMs.push(options.connectionWaitMs);
      bench.clock.advance(waitsFor);
      options.onSending?.();
      return bench.store.updateRecord(request);
    },
    insertRecord: bench.store.insertRecord.bind(bench.store),
    unlock: bench.store.unlock.bind(bench.store),
    find: bench.store.find.bind(bench.store),
  });
  const provider = new StorageBasedLockProvider(busy, { clock: bench.clock });
  return { ...bench, allowedMs, provider };
}

void test('a request waits for a connection for lockAtLeastFor, but for 30 s at most', async () => {
  const { provider, allowedMs } = busyStore('10ms');
  await provider.lock({ ...JOB, lockAtLeastFor: '20s' });
  await provider.lock({ ...JOB, name: 'longer', lockAtLeastFor: '5m' });
  await provider.lock({ ...JOB, name: 'without' });
  await provider.lock({ ...JOB, name: 'short of time', lockAtLeastFor: '5m' }, { statementTimeoutMs: 100 });
  assert.deepEqual(allowedMs, [20_000, 30_000, 0, 0]);
});

void test('a lease is trusted from the end of the wait for a connection', async () => {
  const { provider, other } = busyStore('29s');
  const terms = { name: 'job', lockAtMostFor: '30s', lockAtLeastFor: '30s' };
  const lock = await provider.lock(terms);
  assert.equal(lock?.remainingMs(), 30_000);
  assert.equal(await other.lock(terms), undefined);
});

void test('after a longer wait than it asked for, the lease is trusted from before the wait', async () => {
  const { provider, other } = busyStore('29s');
  await (await other.lock(JOB))?.unlock();
  const lock = await provider.lock({ name: 'job', lockAtMostFor: '1m', lockAtLeastFor: '20s' });
  assert.equal(lock?.remainingMs(), 31_000);
});

const TICKS = {
  'that waited for longer than lockAtLeastFor': { waits: '2900ms', late: 0, fails: 2900 },
  'that was late, and waited for the rest of lockAtLeastFor': { waits: '1500ms', late: 900, fails: 2400 },
  'that was late, and waited for less than the rest': { waits: '1s', late: 900, fails: undefined },
  'that came early': { waits: '1500ms', late: -900, fails: undefined },
  'that was later than lockAtLeastFor, and then waited': { waits: '1s', late: 5000, fails: 6000 },
  'that was later than lockAtLeastFor, and whose connection was checked': {
    waits: '10ms',
    late: 5000,
    fails: undefined,
  },
} as const;

for (const [which, { waits, late, fails }] of Object.entries(TICKS))
  void test(`the lock of a tick ${which} is ${fails === undefined ? 'used' : 'given back'} (P4)`, async () => {
    const { provider, clock, other } = busyStore(waits);
    const executor = new LockingTaskExecutor(provider, { clock });
    const scheduledAt = new Date(clock.wallMs() - late);
    const run = executor.executeWithLock(() => 'ran', { ...JOB, lockAtLeastFor: '2s', scheduledAt });
    if (fails === undefined) return assert.deepEqual(await run, { executed: true, value: 'ran' });
    await assert.rejects(run, {
      message: `Lock 'job' was granted too late: after ${fails} ms, longer than its lockAtLeastFor of 2000 ms. Another instance may have run the job while this one waited, so it was released. Set a longer lockAtLeastFor.`,
    });
    assert.ok(await other.lock(JOB), 'free at once, because no job has begun');
  });

void test('a tick without lockAtLeastFor, and a lock that no tick has requested, are never too late', async () => {
  const { provider, clock } = busyStore('2900ms');
  const executor = new LockingTaskExecutor(provider, { clock });
  const ran = { executed: true, value: 'ran' } as const;
  assert.deepEqual(await executor.executeWithLock(() => 'ran', JOB), ran);
  const lock = { ...JOB, name: 'once-per', lockAtLeastFor: '2s' };
  const report = new CallReport(new EventHub(), lock);
  assert.deepEqual(await executor.holding(report, () => Promise.resolve(ran)), ran);
});

for (const [waitsForNodes, isLate] of [
  [false, false],
  [undefined, true],
] as const)
  void test(`a slow answer ${isLate ? 'makes a tick too late' : 'does not matter'} if the store evaluates a statement ${isLate ? 'when it runs' : 'as of its arrival'}`, async () => {
    const { provider, clock, accessor } = lockBench();
    Object.assign(accessor, { waitsForNodes });
    accessor.delay('insertRecord', () => clock.stall('2900ms'));
    const executor = new LockingTaskExecutor(provider, { clock });
    const run = executor.executeWithLock(() => 'ran', { ...JOB, lockAtLeastFor: '2s' });
    if (isLate) await assert.rejects(run, /granted too late: after 2900 ms/);
    else assert.equal((await run).executed, true);
  });
