import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { configureJobGuard, SchedulerLock, type CronlatchEvents } from 'cronlatch';
import { invoke } from '#cronlatch/guard/invocation';
import { guardBench, reasonOf } from '../support/guard-bench';

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

const told = (): unknown[] => started.map((event) => [event.name, event.scheduledAt]);

void test('what a scheduler knows reaches the guarded method that it calls, and nothing that this one calls', async () => {
  const inner = guarded('inner', () => Promise.resolve());
  const outer = guarded('outer', () => inner());
  await invoke({ scheduledAt }, outer);
  assert.deepEqual(told(), [
    ['outer', scheduledAt],
    ['inner', undefined],
  ]);
});

void test('it reaches the method through wrappers around it, each time that they call it', async () => {
  const method = guarded('job', () => Promise.resolve());
  await invoke({ scheduledAt }, async () => {
    await method();
    await method();
  });
  await method();
  assert.deepEqual(told(), [
    ['job', scheduledAt],
    ['job', scheduledAt],
    ['job', undefined],
  ]);
});

void test('the scheduler is told of an error that the guard has reported', async () => {
  const mine = new Error('mine');
  const reported: unknown[] = [];
  const failing = guarded('failing', () => Promise.reject(mine));
  const call = invoke({ scheduledAt, reported: (error) => void reported.push(error) }, failing);
  assert.equal(await reasonOf(call), mine);
  assert.deepEqual(reported, [mine]);
});

void test('a job that no guard took on was not reported by one', async () => {
  configureJobGuard(undefined);
  const reported: unknown[] = [];
  const method = guarded('job', () => Promise.resolve());
  await reasonOf(invoke({ scheduledAt, reported: (error) => void reported.push(error) }, method));
  assert.deepEqual(reported, []);
});
