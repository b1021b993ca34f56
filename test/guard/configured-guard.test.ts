import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import {
  configureJobGuard,
  InvalidLockUseError,
  NotConfiguredError,
  SchedulerLock,
  type JobGuard,
} from 'cronlatch';
import { scheduleLocked } from 'cronlatch/node-cron';
import { guardBench } from '../support/benches/guard';

/** A guarded method, with the kind of decorators that the tests are compiled with. */
function guardedMethod(name: string, lockAtMostFor?: string): () => Promise<unknown> {
  const descriptor = { value: (): Promise<unknown> => Promise.resolve('ran') };
  SchedulerLock(name, lockAtMostFor)({}, 'method', descriptor);
  return descriptor.value;
}

const method = guardedMethod('job', '1m');

afterEach(() => configureJobGuard(undefined));

void test('a guarded method runs through the configured guard', async () => {
  const { guard, names } = guardBench();
  configureJobGuard(guard);
  assert.equal(await method(), 'ran');
  assert.deepEqual(names(), ['lock:acquired', 'run:started', 'run:completed', 'lock:released']);
});

void test('without a guard a guarded method does not run, and the error explains how to configure one (F-87)', async () => {
  await assert.rejects(method(), (error: NotConfiguredError) => {
    assert.ok(error instanceof NotConfiguredError);
    assert.equal(error.code, 'CRONLATCH_NOT_CONFIGURED');
    assert.match(error.message, /'job'.*did not run/);
    assert.match(error.message, /configureJobGuard\(await createJobGuard\(dataSource\)\)/);
    assert.match(error.message, /scheduleJobs\(instance, \{ guard \}\)/);
    return true;
  });
});

void test('configuring a second guard is rejected, and the first stays (F-87)', async () => {
  const first = guardBench();
  const second = guardBench();
  configureJobGuard(first.guard);
  assert.throws(() => configureJobGuard(second.guard), {
    name: 'InvalidLockUseError',
    message: /\{ replace: true \}/,
  });
  await method();
  assert.notDeepEqual(first.names(), []);
  assert.deepEqual(second.names(), []);
});

void test('a promise of a guard is rejected, and the error suggests to await it', () => {
  const guard = Promise.resolve(guardBench().guard) as unknown as JobGuard;
  const refused = { name: 'InvalidLockUseError', message: /await it: await createJobGuard/ };
  const job = { name: 'job', lockAtMostFor: '1m' };
  assert.throws(() => configureJobGuard(guard), refused);
  assert.throws(() => scheduleLocked('* * * * *', job, () => {}, { guard }), refused);
});

void test('a closed guard may be replaced', async () => {
  const first = guardBench().guard;
  configureJobGuard(first);
  await first.close();
  assert.doesNotThrow(() => configureJobGuard(guardBench().guard));
});

void test('with replace: true, a second guard replaces the first', async () => {
  const second = guardBench();
  configureJobGuard(guardBench().guard);
  configureJobGuard(second.guard, { replace: true });
  await method();
  assert.notDeepEqual(second.names(), []);
});

void test('the same guard may be configured again', () => {
  const { guard } = guardBench();
  configureJobGuard(guard);
  assert.doesNotThrow(() => configureJobGuard(guard));
});

void test('configuring undefined removes the guard, and another may then be configured without replace', async () => {
  configureJobGuard(guardBench().guard);
  configureJobGuard(undefined);
  await assert.rejects(method(), NotConfiguredError);
  assert.doesNotThrow(() => configureJobGuard(guardBench().guard));
});

void test('a method that cannot run under the guard is reported when the guard is configured', async () => {
  guardedMethod('without-default');
  assert.throws(
    () => configureJobGuard(guardBench().guard),
    /lockAtMostFor of lock 'without-default' is missing/,
  );
  await assert.rejects(method(), NotConfiguredError);
  assert.doesNotThrow(() => configureJobGuard(guardBench({ defaultLockAtMostFor: '1m' }).guard));
});

void test('a guard that was rejected does not replace the earlier one', async () => {
  const first = guardBench({ defaultLockAtMostFor: '1m' });
  configureJobGuard(first.guard);
  assert.throws(() => configureJobGuard(guardBench().guard, { replace: true }));
  await method();
  assert.notDeepEqual(first.names(), []);
  assert.throws(() => configureJobGuard(guardBench().guard), InvalidLockUseError);
});
