import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  InvalidLockConfigurationError,
  OncePer,
  OncePerDay,
  SchedulerLock,
  type JobConfiguration,
} from 'cronlatch';
import { Scheduled } from 'cronlatch/node-cron';
import { guardBench } from '../support/benches/guard';
import { JOB } from '../support/benches/lock';
import { dayJob } from '../support/jobs/day-job';

/** Options that TypeScript would refuse. */
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
    const says = new RegExp(
      `Unknown option '\\w+' for (lock|job|retry of job) 'close-day'\\. Did you mean '${meant}'\\?$`,
    );
    assert.throws(() => guard.wrap(configuration, () => {}), says);
    await assert.rejects(
      guard.run(configuration, () => assert.fail('ran')),
      (error) => error instanceof InvalidLockConfigurationError && says.test(error.message),
    );
  });
}

void test('node-cron’s spelling of the time zone is rejected, not ignored', () => {
  assert.throws(() => Scheduled('0 3 * * *', untyped({ timezone: 'Europe/Paris' })), {
    message: "Unknown option 'timezone' for schedule '0 3 * * *'. Did you mean 'timeZone'?",
  });
});

void test('options that are not an object are refused', () => {
  const { guard } = guardBench();
  const configuration: JobConfiguration = dayJob({ ...{ retry: 3 as never } });
  assert.throws(() => guard.wrap(configuration, () => {}), {
    name: 'InvalidLockConfigurationError',
    message: "retry of job 'close-day' needs an object with options, not a number.",
  });
});

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

/** Options of other libraries, and options in the wrong place. */
const unknown: readonly (readonly [JobConfiguration, string])[] = [
  [
    { ...JOB, ...{ ttl: '10m' } },
    "Unknown option 'ttl' for lock 'job'. The options are name, lockAtMostFor, ",
  ],
  [{ ...JOB, ...{ lockFor: '10m' } }, "Unknown option 'lockFor' for lock 'job'. The options are name, "],
  [{ ...JOB, ...{ once: 'day' } }, "Unknown option 'once' for lock 'job'. The options are name, "],
  [{ ...JOB, ...{ timeZone: 'UTC' } }, "Unknown option 'timeZone' for lock 'job'. The options are name, "],
  [
    dayJob(untyped({ ttl: '1m' })),
    "Unknown option 'ttl' for job 'close-day'. The options are period, name, ",
  ],
  [
    dayJob({ retry: untyped({ times: 3 }) }),
    "Unknown option 'times' for retry of job 'close-day'. The options are maxAttempts, initialDelay, factor, maxDelay, until.",
  ],
];

for (const [configuration, message] of unknown) {
  void test(`a job is refused: ${message}`, async () => {
    const { guard } = guardBench();
    const refusal = beginning(message);
    assert.throws(() => guard.wrap(configuration, () => {}), refusal);
    assert.throws(() => guard.check(configuration), refusal);
    await assert.rejects(
      guard.run(configuration, () => assert.fail('ran')),
      refusal,
    );
  });
}

void test('a guard refuses an option that resembles none of its options, and lists them', () => {
  const refusal = beginning("Unknown option 'table' for the job guard. The options are lockProvider, ");
  assert.throws(() => guardBench(untyped({ table: 'locks' })), refusal);
});

void test('a decorator refuses an unknown option when it is applied', () => {
  const lock = { name: 'close-day', lockAtMostFor: '10m', ...{ ttl: '10m' } };
  assert.throws(
    () => SchedulerLock(lock),
    beginning("Unknown option 'ttl' for lock 'close-day'. The options are "),
  );
  const named = { name: 'close-day', ...{ timezone: 'UTC' } };
  assert.throws(
    () => OncePerDay(named),
    beginning("Unknown option 'timezone' for job 'close-day'. Did you mean 'timeZone'?"),
  );
  assert.throws(
    () => OncePer('week', untyped({ lockAtMostFor: '1m' })),
    beginning("Unknown option 'lockAtMostFor' for job '@OncePer(\"week\")'. The options are period, "),
  );
});

void test('the other functions of the guard refuse unknown options too', async () => {
  const { guard, provider } = guardBench();
  const manager = guard.lockManager();
  const unknownOption = untyped({ retries: 3 });
  const refusal = (owner: string) => beginning(`Unknown option 'retries' for ${owner}. The options are `);
  assert.throws(() => guard.wrap(JOB, () => {}, unknownOption), refusal("guard.wrap('job')"));
  assert.throws(() => guard.closeOnSignals(unknownOption), refusal('close'));
  await assert.rejects(guard.close(unknownOption), refusal('close'));
  await assert.rejects(manager.tryLock(JOB, unknownOption), refusal("lock 'job'"));
  await assert.rejects(
    manager.withLock(JOB, unknownOption, () => assert.fail('ran')),
    refusal("lock 'job'"),
  );
  assert.deepEqual(await provider.list({ limit: 9 }), []);
  assert.ok(!guard.isClosing);
});

/** As JavaScript passes them. */
function untyped(options: object): object {
  return options;
}

function beginning(message: string) {
  return (error: unknown): boolean =>
    error instanceof InvalidLockConfigurationError && error.message.startsWith(message);
}
