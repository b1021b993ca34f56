import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  InvalidLockUseError,
  LockStorageError,
  SchemaMismatchError,
  type CronlatchEvents,
  type Lock,
} from 'cronlatch';
import {
  LockingTaskExecutor,
  type LockedTask,
  type LockObserver,
  type LockProvider,
} from 'cronlatch/provider';
import { executorBench, signal } from '../../support/benches/executor';
import { guardBench, reasonOf } from '../../support/benches/guard';
import { JOB, turn } from '../../support/benches/lock';
import { refusedConnection } from '../../support/faults/accessor';

void test('a task runs while its lock is held, and its value is returned', async () => {
  const { executor, other, names } = executorBench();
  const result = await executor.executeWithLock(async () => await other.lock(JOB), JOB);
  assert.deepEqual(result, { executed: true, value: undefined });
  assert.ok(await other.lock(JOB));
  assert.deepEqual(names(), ['lock:acquired', 'run:started', 'run:completed', 'lock:released']);
});

void test('a task whose lock another instance holds is skipped, and the event names the holder', async () => {
  const { executor, other, events } = executorBench();
  await executor.executeWithLock(() => {}, JOB);
  await other.lock(JOB);
  const skips: CronlatchEvents['lock:skipped'][] = [];
  events.on('lock:skipped', (event) => void skips.push(event));
  assert.deepEqual(await executor.executeWithLock(() => assert.fail('ran'), JOB), {
    executed: false,
    reason: 'locked',
  });
  assert.deepEqual(
    skips.map(({ reason, heldUntil }) => [reason, heldUntil?.toISOString()]),
    [['locked', '2026-11-20T03:10:00.000Z']],
  );
  assert.match(skips[0]?.heldBy ?? '', new RegExp(`/${process.pid}/`));
});

void test('a lock provider that does not answer within a minute causes a warning, and its late answer still counts', async () => {
  const { clock, events, provider, emitted } = executorBench();
  const answer = signal<Lock | undefined>();
  const foreign = { lock: () => answer.promise };
  const executor = new LockingTaskExecutor(foreign, { clock, events });
  const running = executor.executeWithLock(() => 'ran', JOB);
  clock.advance('59s');
  assert.equal(emitted.length, 0);
  clock.advance('1s');
  assert.match(
    emitted.map(([name, event]) => `${name}: ${'message' in event && event.message}`).join('; '),
    /^guard:warning: The lock provider has not answered for lock 'job' .* 'running-here'/,
  );
  assert.deepEqual(await executor.executeWithLock(() => assert.fail('ran'), JOB), {
    executed: false,
    reason: 'running-here',
  });
  answer.resolve(await provider.lock(JOB));
  assert.deepEqual(await running, { executed: true, value: 'ran' });
  assert.equal(clock.pendingTimers, 0);
});

void test('if it is unknown whether the lock was granted, the task does not run and the caller gets an error (P7)', async () => {
  const { executor, accessor, names } = executorBench();
  accessor.fail('updateRecord', refusedConnection);
  await assert.rejects(
    executor.executeWithLock(() => assert.fail('ran'), JOB),
    LockStorageError,
  );
  assert.deepEqual(names(), ['lock:failed']);
  assert.deepEqual(await executor.executeWithLock(() => 'ran', JOB), { executed: true, value: 'ran' });
});

const FAILURE = new TypeError('broken');
const FAILING: Readonly<Record<string, LockProvider>> = {
  rejects: { lock: () => Promise.reject(FAILURE) },
  throws: {
    lock() {
      throw FAILURE;
    },
  },
};

for (const [what, lockProvider] of Object.entries(FAILING)) {
  void test(`an error of a provider that ${what} is reported, and rethrown unchanged (P7)`, async () => {
    const { guard, emitted } = guardBench({ lockProvider });
    assert.equal(await reasonOf(guard.run(JOB, () => assert.fail('ran'))), FAILURE);
    const event = { name: 'job', job: 'job', scheduledAt: undefined, willRetry: false, error: FAILURE };
    assert.deepEqual(emitted, [['lock:failed', event]]);
  });
}

for (const thrown of [new Error('mine'), 'a string', null, undefined, 0] as Error[]) {
  void test(`what the task throws (${String(thrown)}) is rethrown unchanged, after the release (P9, F-09)`, async () => {
    const atOnce = (): never => {
      throw thrown;
    };
    for (const task of [() => Promise.reject(thrown), atOnce]) {
      const { executor, other, names, emitted } = executorBench();
      assert.equal(await reasonOf(executor.executeWithLock(task, JOB)), thrown);
      assert.ok(await other.lock(JOB));
      assert.deepEqual(names(), ['lock:acquired', 'run:started', 'run:failed', 'lock:released']);
      const [, , [, failed] = []] = emitted;
      assert.ok(failed !== undefined && 'error' in failed && failed.error === thrown);
    }
  });
}

void test('a failed release replaces neither the value nor the error (P9, F-09)', async () => {
  const { guard, accessor, emitted } = guardBench();
  const failure = new SchemaMismatchError('the table is gone');
  const tableGone = (): Promise<never> => Promise.reject(failure);
  accessor.fail('unlock', tableGone, tableGone);
  assert.deepEqual(await guard.run(JOB, () => 42), { executed: true, value: 42 });
  const mine = new Error('mine');
  assert.equal(await reasonOf(guard.run({ ...JOB, name: 'second' }, () => Promise.reject(mine))), mine);
  assert.deepEqual(
    emitted.filter(([name]) => name === 'lock:releaseFailed').map(([, event]) => event),
    ['job', 'second'].map((name) => ({ name, job: name, scheduledAt: undefined, error: failure })),
  );
});

void test('the caller waits at most ten seconds for a slow release, which continues in the background (P9)', async () => {
  const { executor, accessor, clock, drive, emitted, names } = executorBench();
  accessor.fail('unlock', ...Array.from({ length: 5000 }, () => refusedConnection));
  const startedAtMs = clock.monotonicMs();
  await drive(
    executor.executeWithLock(() => 42, JOB),
    100,
  );
  assert.ok(clock.monotonicMs() - startedAtMs <= 10_100);
  assert.ok(names().includes('run:completed') && !names().includes('lock:released'));
  assert.deepEqual(await executor.executeWithLock(() => 43, JOB), {
    executed: false,
    reason: 'running-here',
  });
  for (let minute = 0; minute < 120; minute += 1) {
    clock.advance('5s');
    await turn();
  }
  assert.ok(emitted.some(([name]) => name === 'lock:releaseFailed'));
  assert.deepEqual(executor.runs.active, []);
});

void test('a second tick in the same process is refused without a statement (F-89)', async () => {
  const { executor, accessor, names } = executorBench();
  const { promise, resolve } = signal();
  const first = executor.executeWithLock(() => promise, JOB);
  await turn();
  accessor.calls.length = 0;
  assert.deepEqual(await executor.executeWithLock(() => assert.fail('ran'), JOB), {
    executed: false,
    reason: 'running-here',
  });
  assert.deepEqual(accessor.calls, []);
  resolve();
  assert.equal((await first).executed, true);
  assert.deepEqual(names(), [
    'lock:acquired',
    'run:started',
    'lock:skipped',
    'run:completed',
    'lock:released',
  ]);
});

void test('a handler that ignores its aborted signal is not started again in the same process, and is reported once per lease (F-10)', async () => {
  const { executor, clock, names } = executorBench();
  const { promise, resolve } = signal();
  const stuck = executor.executeWithLock(() => promise, JOB);
  await turn();
  clock.advance('10m');
  for (let tick = 1; tick <= 3; tick += 1)
    assert.equal((await executor.executeWithLock(() => assert.fail('ran'), JOB)).executed, false);
  assert.equal(names().filter((name) => name === 'run:stuck').length, 1);
  assert.ok(names().includes('lock:lost'));
  resolve();
  await stuck;
  assert.equal((await executor.executeWithLock(() => 'again', JOB)).executed, true);
});

const UNAWAITABLE: [string, LockedTask<unknown>][] = [
  [
    'a generator',
    function* () {
      yield 1;
    },
  ],
  [
    'an async iterator',
    async function* () {
      yield await Promise.resolve(1);
    },
  ],
  ['an Observable', () => ({ subscribe: () => {} })],
  ['an Observable', () => Promise.resolve({ subscribe: () => {} })],
];

for (const [what, task] of UNAWAITABLE) {
  void test(`a handler that returns ${what} is refused, because its work would run after the release (F-12)`, async () => {
    const { executor, names } = executorBench();
    await assert.rejects(
      executor.executeWithLock(task, JOB),
      (error) => error instanceof InvalidLockUseError && error.message.includes(what),
    );
    assert.ok(names().includes('run:failed') && names().includes('lock:released'));
  });
}

void test('other values are accepted: a thenable is awaited, an array or a map is returned (F-12)', async () => {
  const { executor } = executorBench();
  const thenable = { then: (yes: (value: number) => void) => yes(7) } as PromiseLike<number>;
  assert.deepEqual(await executor.executeWithLock(() => thenable, JOB), { executed: true, value: 7 });
  assert.deepEqual(await executor.executeWithLock(() => [1], JOB), { executed: true, value: [1] });
  const map = new Map([[1, 2]]);
  assert.deepEqual(await executor.executeWithLock(() => map, JOB), { executed: true, value: map });
});

void test('a handler can destructure its lock', async () => {
  const { executor, other } = executorBench();
  const outcome = await executor.executeWithLock(
    // eslint-disable-next-line @typescript-eslint/unbound-method -- JavaScript has no such rule
    async ({ name, fencingToken, signal: { aborted }, remainingMs, extend, unlock }) => {
      assert.deepEqual([name, typeof fencingToken, aborted], ['job', 'number', false]);
      assert.ok((await extend('20m')) && remainingMs() > 600_000);
      return [await unlock(), (await other.lock(JOB)) !== undefined];
    },
    JOB,
  );
  assert.deepEqual(outcome, { executed: true, value: [true, true] });
});

void test('a provider can pass on a copy of its observer, and the copy also receives every call', async () => {
  const { provider, clock, events, emitted } = executorBench();
  let copy: LockObserver = {};
  const handingOn = {
    lock: (configuration: typeof JOB, observer?: LockObserver) =>
      provider.lock(configuration, (copy = { ...observer })),
  };
  const executor = new LockingTaskExecutor(handingOn, { clock, events });
  await executor.executeWithLock(async (lock) => {
    assert.equal(await lock.extend('20m'), true);
    assert.equal(copy.abandonedSignal?.().aborted, false);
    for (const run of executor.runs.active) run.abandon();
    assert.equal(copy.abandonedSignal?.().aborted, true);
  }, JOB);
  assert.ok(emitted.some(([name]) => name === 'lock:extended'));
});
