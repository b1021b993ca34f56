import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { configureJobGuard, NotConfiguredError, SchedulerLock, type CronlatchEvents } from 'cronlatch';
import { invoke, invokeTick, type GuardedCallee } from '#cronlatch/guard/calls/invocation';
import { guardBench, reasonOf } from '../support/benches/guard';

const scheduledAt = new Date('2026-11-20T03:00:00Z');
const started: CronlatchEvents['run:started'][] = [];

beforeEach(() => {
  const { guard } = guardBench();
  guard.on('run:started', (event) => void started.push(event));
  configureJobGuard(guard);
});
afterEach(() => {
  started.length = 0;
  configureJobGuard(undefined);
});

function guarded(name: string, method: () => Promise<unknown>): () => Promise<unknown> {
  const descriptor = { value: method };
  SchedulerLock(name, '1m')({}, name, descriptor);
  return descriptor.value;
}

const startedRuns = (): unknown[] => started.map((event) => [event.name, event.scheduledAt]);

void test('a scheduler’s invocation reaches the guarded method that it calls, but not the methods that this one calls', async () => {
  const inner = guarded('inner', () => Promise.resolve());
  const outer = guarded('outer', () => inner());
  await invoke({ scheduledAt }, outer);
  assert.deepEqual(startedRuns(), [
    ['outer', scheduledAt],
    ['inner', undefined],
  ]);
});

void test('the invocation reaches the method through wrappers, each time that they call it', async () => {
  const method = guarded('job', () => Promise.resolve());
  await invoke({ scheduledAt }, async () => {
    await method();
    await method();
  });
  await method();
  assert.deepEqual(startedRuns(), [
    ['job', scheduledAt],
    ['job', scheduledAt],
    ['job', undefined],
  ]);
});

const NO_BANK = new Error('no bank today');

/** A scheduler’s listener for errors, which lets the error continue or ends it. */
function scheduler({ ends }: { ends: boolean }) {
  const errors: unknown[] = [];
  const callees: GuardedCallee[] = [];
  const onReportedError = (error: unknown, callee: GuardedCallee): boolean => {
    errors.push(error);
    callees.push(callee);
    return ends;
  };
  return { errors, callees, invocation: { scheduledAt, onReportedError } };
}

void test('the scheduler gets each error that the guard has reported', async () => {
  const failing = guarded('failing', () => Promise.reject(NO_BANK));
  const { errors, callees, invocation } = scheduler({ ends: false });
  const instance = { failing };
  assert.equal(await reasonOf(invoke(invocation, () => instance.failing())), NO_BANK);
  assert.deepEqual(errors, [NO_BANK]);
  assert.deepEqual(callees, [{ instance, method: failing }]);
});

void test('the scheduler may end the error: the call then resolves to undefined', async () => {
  const failing = guarded('failing', () => Promise.reject(NO_BANK));
  const { errors, invocation } = scheduler({ ends: true });
  assert.equal(await invoke(invocation, failing), undefined);
  assert.deepEqual(errors, [NO_BANK]);
});

void test('an error of a job outside the guard does not count as reported', async () => {
  configureJobGuard(undefined);
  const method = guarded('job', () => Promise.resolve());
  const { errors, invocation } = scheduler({ ends: true });
  await assert.rejects(invoke(invocation, method), NotConfiguredError);
  assert.deepEqual(errors, []);
});

void test('a tick whose error the guard has reported resolves to undefined, and the wrappers still get the error', async () => {
  const heard: unknown[] = [];
  const failing = guarded('failing', () => Promise.reject(NO_BANK));
  const wrapped = async (): Promise<unknown> => {
    try {
      return await failing();
    } catch (error) {
      heard.push(error);
      throw error;
    }
  };
  assert.equal(await invokeTick(scheduledAt, wrapped), undefined);
  assert.deepEqual(heard, [NO_BANK]);
  assert.deepEqual(startedRuns(), [['failing', scheduledAt]]);
});

void test('a tick rejects with an error from outside the guard', async () => {
  const method = guarded('job', () => Promise.resolve('done'));
  assert.equal(await invokeTick(scheduledAt, method), 'done');
  const mine = new Error('mine');
  const wrapped = async (): Promise<never> => {
    await method();
    throw mine;
  };
  assert.equal(await reasonOf(invokeTick(scheduledAt, wrapped)), mine);
});
