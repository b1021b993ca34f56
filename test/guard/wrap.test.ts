import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockConfigurationError } from 'cronlatch';
import { guardBench } from '../support/benches/guard';
import { JOB } from '../support/benches/lock';

void test('a wrapped function passes its arguments on and resolves to its value', async () => {
  const { guard } = guardBench();
  const add = guard.wrap(JOB, (a: number, b: number) => a + b);
  assert.equal(await add(2, 3), 5);
  assert.equal(await add(3, 4), 7);
});

void test('an invalid configuration is rejected when the function is wrapped, not at the first tick', () => {
  const { guard } = guardBench();
  const never = (): void => assert.fail('ran');
  assert.throws(() => guard.wrap({ name: 'job' }, never), InvalidLockConfigurationError);
  assert.throws(() => guard.wrap({ name: '', lockAtMostFor: '1m' }, never), InvalidLockConfigurationError);
  assert.throws(
    () => guard.wrap({ name: 'job', lockAtMostFor: '600' }, never),
    /lockAtMostFor of lock 'job' is "600"/,
  );
});

void test('changing a configuration after wrapping has no effect', async () => {
  const { guard } = guardBench();
  const configuration = { name: 'job', lockAtMostFor: '10m' };
  const wrapped = guard.wrap(configuration, () => 'ran');
  configuration.lockAtMostFor = 'nonsense';
  assert.equal(await wrapped(), 'ran');
});
