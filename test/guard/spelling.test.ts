import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockConfigurationError, type JobConfiguration } from 'cronlatch';
import { guardBench } from '../support/guard-bench';
import { dayJob } from '../support/once-per-job';

/** As JavaScript passes them. */
const misspelt: readonly (readonly [JobConfiguration, string])[] = [
  [{ ...dayJob(), ...{ keepalive: true } }, 'keepAlive'],
  [{ ...dayJob(), ...{ keepAlve: true } }, 'keepAlive'],
  [{ ...dayJob(), ...{ lockAtLeast_For: '30s' } }, 'lockAtLeastFor'],
  [{ ...dayJob(), ...{ lockAtleastFor: '30s' } }, 'lockAtLeastFor'],
  [{ ...dayJob(), ...{ onceper: {} } }, 'oncePer'],
  [{ ...dayJob(), ...{ onskip: 'throw' } }, 'onSkip'],
  [dayJob({ ...{ maxSkew: '1m', oncrash: 'hold' } }), 'onCrash'],
  [dayJob({ retry: { factor: 1, ...{ maxAttemps: 1 } } }), 'maxAttempts'],
  [dayJob({ retry: { ...{ initialDelay: '1m', maxattempts: 1 } } }), 'maxAttempts'],
  [{ ...dayJob(), ...{ keepAlive: true, maxHold: '1h' } }, 'maxLockDuration'],
  [dayJob({ retry: { maxDelay: '1h', ...{ minDelay: '1m' } } }), 'initialDelay'],
  [dayJob({ retry: { maxDelay: '1h', ...{ backoff: 2 } } }), 'factor'],
];

for (const [configuration, meant] of misspelt) {
  void test(`a misspelt ${meant} is rejected, and not ignored`, async () => {
    const { guard } = guardBench();
    const says = new RegExp(`Unknown option '\\w+' for lock 'close-day'\\. Did you mean '${meant}'\\?$`);
    assert.throws(() => guard.wrap(configuration, () => {}), says);
    await assert.rejects(
      guard.run(configuration, () => assert.fail('ran')),
      (error) => error instanceof InvalidLockConfigurationError && says.test(error.message),
    );
  });
}

for (const [written, meant] of [
  ['dueEvery', 'pollInterval'],
  ['pollinterval', 'pollInterval'],
  ['statementTimeOut', 'statementTimeout'],
  ['defaultTimezone', 'defaultTimeZone'],
  ['defaultKeepalive', 'defaultKeepAlive'],
  ['lockTabel', 'lockTable'],
  ['runtable', 'runTable'],
  ['shema', 'schema'],
  ['connection', 'connections'],
] as const) {
  void test(`a guard refuses the option ${written}, and names ${meant}`, () => {
    assert.throws(() => guardBench({ [written]: '1m' }), {
      name: 'InvalidLockConfigurationError',
      message: `Unknown option '${written}' for the job guard. Did you mean '${meant}'?`,
    });
  });
}

void test('an option that resembles none is left alone', () => {
  assert.ok(guardBench({ pollInterval: false, ...{ name: 'billing', timeout: '1s' } }).guard);
});
