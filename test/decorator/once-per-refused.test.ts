import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configureJobGuard, OncePer, OncePerDay, SchedulerLock } from 'cronlatch';
import { guardOfRuns } from '../support/benches/guard-of-runs';
import { refused } from '../support/checks/refused';

const UTC = { timeZone: 'UTC' } as const;

void test('once per period twice on one method is refused, with the name of the method (L-59)', () => {
  assert.throws(
    () => {
      class Jobs {
        @OncePerDay(UTC)
        @SchedulerLock('twice', '1m')
        @OncePer('hour', UTC)
        async nightly(): Promise<void> {}
      }
      return Jobs;
    },
    { name: 'InvalidLockUseError', message: /'nightly' has @OncePer or @OncePerDay twice/ },
  );
});

void test('two locks are refused, on both sides of the period (L-59)', () => {
  assert.throws(() => {
    class Jobs {
      @SchedulerLock('first', '1m')
      @OncePerDay(UTC)
      @SchedulerLock('second', '1m')
      async nightly(): Promise<void> {}
    }
    return Jobs;
  }, /'nightly' has @SchedulerLock twice: 'second' and 'first'/);
});

void test('on a class', () => {
  assert.throws(() => {
    // @ts-expect-error -- a class is not a method
    @OncePer('week', UTC)
    class Jobs {}
    return Jobs;
  }, /@OncePer\("week"\) was applied to a (field or a )?class/);
});

type AnyOptions = Parameters<typeof OncePerDay>[0];

const OPTIONS: [object, string][] = [
  [{ timeZone: 'Mars/Olympus' }, `timeZone of job '@OncePerDay()' is "Mars/Olympus"`],
  [{ timeZone: '+02:00' }, `timeZone of job '@OncePerDay()' is "+02:00"`],
  [{ dayStart: '24:00' }, `dayStart of job '@OncePerDay()' is "24:00"`],
  [{ target: 'next' }, `target of job '@OncePerDay()' is "next"`],
  [{ retry: { maxAttempts: 0 } }, 'retry.maxAttempts'],
  [{ retry: { initialDelay: '2h', maxDelay: '1h' } }, 'longer than maxDelay'],
  [{ onCrash: 'ignore' }, `onCrash`],
  [{ startDeadline: 0 }, 'startDeadline'],
  [{ catchUp: 'some' }, `it must be 'none', 'latest' or 'all'`],
  [{ catchUpLimit: 1001 }, 'catchUpLimit'],
  [{ calendar: {} }, 'isBusinessDay(date)'],
  [{ scope: 7 }, 'a string, or a function of the arguments'],
  [{ scope: () => 'eu' }, 'also needs a resume function'],
  [{ maxSkew: '-1s' }, 'maxSkew'],
  [{ name: ' close-day' }, 'white space'],
  [{ name: 'n'.repeat(65) }, '65 characters, more than 64'],
];

for (const [options, expected] of OPTIONS) {
  void test(`${JSON.stringify(options)} is refused before the method is ever called`, () => {
    refused(() => OncePerDay(options), expected);
  });
}

void test('options that a key function cannot have are refused', () => {
  const key = (): string => 'always';
  refused(() => OncePer(key, { ...UTC, catchUp: 'latest' }), `Use 'all' or 'none'.`);
  refused(() => OncePer(key, { ...UTC, retry: { until: 'period-end' } }), 'give a duration');
  refused(
    () => OncePer(key, { ...UTC, target: 'previous' }),
    `target 'previous' of job '@OncePer(a key function)' cannot be used with a key function`,
  );
});

void test('an unknown period and options of a wrong type are refused', () => {
  refused(
    () => OncePer('fortnight' as 'week', UTC),
    `period of job '@OncePer("fortnight")' is "fortnight": use 'tick', 'hour'`,
  );
  refused(
    () => OncePerDay('close-day' as unknown as AnyOptions),
    'Invalid options for a once-per job: "close-day"',
  );
  refused(() => OncePerDay(null as unknown as AnyOptions), 'Invalid options for a once-per job: null');
});

// Its method fits no guard, so no other test of this file may follow.
void test('without a lock and a name, the first call is refused: no name is derived from class or method (L-59)', async () => {
  configureJobGuard(guardOfRuns({ defaultLockAtMostFor: '5m' }).guard);
  class Jobs {
    @OncePerDay(UTC)
    async job(): Promise<void> {}
  }
  await assert.rejects(new Jobs().job(), {
    name: 'InvalidLockConfigurationError',
    message: /^Method 'job' runs once per period, but its job has no name/,
  });
  configureJobGuard(undefined);
});
