import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LockingTaskExecutor } from 'cronlatch/provider';
import { executorBench, signal } from '../../support/benches/executor';
import { JOB, turn } from '../../support/benches/lock';

void test('inside its own lease a task runs in that lease, without a statement (F-86)', async () => {
  const { executor, accessor } = executorBench();
  const result = await executor.executeWithLock(async (outer) => {
    const before = accessor.calls.length;
    const inner = await executor.executeWithLock((lock) => [lock === outer, accessor.calls.length - before], {
      ...JOB,
      lockAtMostFor: '1s',
    });
    return [inner, outer.signal.aborted];
  }, JOB);
  assert.deepEqual(result, { executed: true, value: [{ executed: true, value: [true, 0] }, false] });
});

void test('both branches of a Promise.all run in the outer lease', async () => {
  const { executor } = executorBench();
  const branch = (value: number) => executor.executeWithLock(() => Promise.resolve(value), JOB);
  const result = await executor.executeWithLock(() => Promise.all([branch(1), branch(2)]), JOB);
  assert.deepEqual(result.executed && result.value.map((inner) => inner.executed && inner.value), [1, 2]);
});

void test('the lease is released when the handler and every run nested in it have settled', async () => {
  const { executor, other } = executorBench();
  const { promise, resolve } = signal();
  const outer = executor.executeWithLock(() => {
    void executor.executeWithLock(() => promise, JOB);
  }, JOB);
  await turn();
  assert.equal(await other.lock(JOB), undefined);
  resolve();
  await outer;
  assert.ok(await other.lock(JOB));
});

void test('work that outlives the job is outside the lease: after the release it asks for the lock again (F-86)', async () => {
  const { executor, accessor } = executorBench();
  const { promise, resolve } = signal();
  let leaked: Promise<unknown> = Promise.resolve();
  await executor.executeWithLock(() => {
    leaked = promise.then(() => executor.executeWithLock(() => 'afresh', JOB));
  }, JOB);
  accessor.calls.length = 0;
  resolve();
  assert.deepEqual(await leaked, { executed: true, value: 'afresh' });
  assert.deepEqual(accessor.calls, ['updateRecord', 'unlock']);
});

void test('after its deadline a lease does not count: the same process does not run the job inside it (F-86)', async () => {
  const { executor, clock } = executorBench();
  const result = await executor.executeWithLock(async () => {
    clock.stall('11m');
    return await executor.executeWithLock(() => assert.fail('ran'), JOB);
  }, JOB);
  assert.deepEqual(result, { executed: true, value: { executed: false, reason: 'running-here' } });
});

void test('another lock inside a lease is requested, and so is the same lock of another provider (F-87)', async () => {
  const { executor, otherExecutor, accessor } = executorBench();
  await executor.executeWithLock(async () => {
    assert.deepEqual(await executor.executeWithLock(() => 'inner', { ...JOB, name: 'inner' }), {
      executed: true,
      value: 'inner',
    });
    assert.deepEqual(await otherExecutor.executeWithLock(() => assert.fail('ran'), JOB), {
      executed: false,
      reason: 'locked',
    });
  }, JOB);
  assert.equal(accessor.calls.filter((call) => call === 'insertRecord').length, 2);
});

void test('two executors of one provider share its leases', async () => {
  const { executor, provider, clock } = executorBench();
  const second = new LockingTaskExecutor(provider, { clock });
  const result = await executor.executeWithLock(() => second.executeWithLock(() => 'nested', JOB), JOB);
  assert.deepEqual(result.executed && result.value, { executed: true, value: 'nested' });
});

void test('a nested run that fails is reported, and its caller gets the error', async () => {
  const { executor, names } = executorBench();
  await executor.executeWithLock(async () => {
    await assert.rejects(
      executor.executeWithLock(() => Promise.reject(new Error('inner')), JOB),
      { message: 'inner' },
    );
  }, JOB);
  assert.deepEqual(names(), [
    'lock:acquired',
    'run:started',
    'run:started',
    'run:failed',
    'run:completed',
    'lock:released',
  ]);
});
