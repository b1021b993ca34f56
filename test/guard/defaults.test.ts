import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockConfigurationError, type JobGuardOptions, type Lock } from 'cronlatch';
import { StorageBasedLockProvider } from 'cronlatch/provider';
import { guardBench, nextEvent, runningJob } from '../support/benches/guard';
import { guardOfRuns } from '../support/benches/guard-of-runs';

const never = (): void => assert.fail('ran');

void test('a job without lockAtMostFor gets the guard’s default, and its own takes precedence', async () => {
  const { guard } = guardBench({ defaultLockAtMostFor: '3m' });
  const lease = (lock: Lock): number => lock.remainingMs();
  for (const [lockAtMostFor, value] of [
    [undefined, 180_000],
    ['1m', 60_000],
  ] as const)
    assert.deepEqual(await guard.run({ name: 'job', lockAtMostFor }, lease), { executed: true, value });
});

void test('without lockAtMostFor and a default, run rejects, wrap and check throw, and all errors name the lock', async () => {
  const { guard } = guardBench();
  const naming = {
    name: 'InvalidLockConfigurationError',
    message: /lockAtMostFor of lock 'nightly' is missing/,
  };
  await assert.rejects(guard.run({ name: 'nightly' }, never), naming);
  assert.throws(() => guard.wrap({ name: 'nightly' }, never), naming);
  assert.throws(() => guard.check({ name: 'nightly' }), naming);
});

void test('a lockAtLeastFor longer than the default is rejected', () => {
  const { guard } = guardBench({ defaultLockAtMostFor: '3m' });
  assert.doesNotThrow(() => guard.check({ name: 'job', lockAtLeastFor: '3m' }));
  assert.throws(
    () => guard.check({ name: 'job', lockAtLeastFor: '4m' }),
    /lockAtLeastFor \(4m\) is longer than lockAtMostFor \(3m\) for lock 'job'/,
  );
});

const REFUSED_DEFAULTS: [Partial<JobGuardOptions>, RegExp][] = [
  ...['10', 0, '-1m', NaN, 'P1M', '366d'].map((defaultLockAtMostFor): [object, RegExp] => [
    { defaultLockAtMostFor },
    /^defaultLockAtMostFor is /,
  ]),
  [{ defaultLockAtLeastFor: 'soon' }, /^defaultLockAtLeastFor is "soon", which is not a duration/],
  [{ defaultLockAtLeastFor: -1 }, /^defaultLockAtLeastFor is -1/],
  [
    { defaultLockAtMostFor: '1m', defaultLockAtLeastFor: '2m' },
    /^defaultLockAtLeastFor \(2m\) is longer than defaultLockAtMostFor \(1m\)\.$/,
  ],
  [{ defaultKeepAlive: 0 }, /^defaultKeepAlive is 0: it must be longer than zero/],
  [{ defaultKeepAlive: 'often' }, /^defaultKeepAlive is "often", which is not a duration/],
  [
    { defaultLockAtMostFor: '1m', defaultKeepAlive: '40s' },
    /^defaultKeepAlive \(40s\) is longer than half of defaultLockAtMostFor \(1m\)/,
  ],
  [{ defaultTimeZone: 'Paris' }, /^defaultTimeZone is "Paris", which is not a time zone/],
  [{ defaultTimeZone: '+02:00' }, /^defaultTimeZone is "\+02:00", an offset without clock changes/],
  [{ defaultTimeZone: '' }, /^defaultTimeZone is ""/],
];

for (const [options, message] of REFUSED_DEFAULTS) {
  void test(`the defaults ${JSON.stringify(options)} are rejected when the guard is created`, () => {
    assert.throws(() => guardBench(options), { name: 'InvalidLockConfigurationError', message });
  });
}

void test('a job without keepAlive is renewed as the guard’s default sets it', async () => {
  const { guard, clock } = guardBench({ defaultLockAtMostFor: '3m', defaultKeepAlive: '30s' });
  const job = await runningJob(guard, { name: 'job' });
  const extended = nextEvent(guard, 'lock:extended');
  clock.advance('30s');
  assert.equal((await extended).name, 'job');
  await job.end();
});

void test('keepAlive: false takes precedence over the default', async () => {
  const { guard, clock } = guardBench({ defaultLockAtMostFor: '3m', defaultKeepAlive: true });
  const job = await runningJob(guard, { name: 'job', keepAlive: false });
  clock.advance('3m');
  assert.equal(job.lock.signal.aborted, true);
  await job.end();
});

void test('a job without lockAtLeastFor keeps its lock as long as the guard’s default, and 0 takes precedence', async () => {
  const { guard, other } = guardBench({ defaultLockAtMostFor: '3m', defaultLockAtLeastFor: '30s' });
  await guard.run({ name: 'short' }, () => {});
  assert.equal(await other.lock({ name: 'short', lockAtMostFor: '1m' }), undefined);
  await guard.run({ name: 'released', lockAtLeastFor: 0 }, () => {});
  assert.ok(await other.lock({ name: 'released', lockAtMostFor: '1m' }));
});

void test('maxLockDuration needs no keepAlive of the job if the guard has a default', () => {
  const job = { name: 'job', lockAtMostFor: '1m', maxLockDuration: '1h' };
  assert.doesNotThrow(() => guardBench({ defaultKeepAlive: true }).guard.check(job));
  assert.throws(() => guardBench().guard.check(job), /maxLockDuration of lock 'job' has no meaning/);
});

void test('an error about a default that contradicts a job names the options that the job does not set', () => {
  const { guard } = guardBench({ defaultLockAtLeastFor: '2m', defaultKeepAlive: '1m' });
  assert.throws(() => guard.check({ name: 'job', lockAtMostFor: '1m' }), {
    name: 'InvalidLockConfigurationError',
    message:
      "lockAtLeastFor (2m) is longer than lockAtMostFor (1m) for lock 'job'. The job does not set lockAtLeastFor, so the guard's default applies.",
  });
  assert.throws(
    () => guard.check({ name: 'job', lockAtMostFor: '1m', lockAtLeastFor: 0 }),
    /longer than half of lockAtMostFor.* The job does not set keepAlive, so the guard's default applies\.$/,
  );
});

void test('a once-per job without a time zone gets the guard’s default, and its own takes precedence', async () => {
  const { guard } = guardOfRuns({ defaultLockAtMostFor: '1m', defaultTimeZone: 'Pacific/Kiritimati' });
  const oncePer = { period: 'day' } as const;
  const at = new Date('2026-11-20T12:00:00Z');
  await guard.run({ name: 'east', oncePer, at }, () => {});
  await guard.run({ name: 'west', oncePer: { ...oncePer, timeZone: 'UTC' }, at }, () => {});
  const keys = await Promise.all(['east', 'west'].map(async (job) => await guard.ledger.last(job)));
  assert.deepEqual(
    keys.map((run) => [run?.periodKey, run?.timeZone]),
    [
      ['2026-11-21', 'Pacific/Kiritimati'],
      ['2026-11-20', 'UTC'],
    ],
  );
});

const LONG = 'n'.repeat(65);

void test('names may be as long as the option nameLength, 64 characters by default', async () => {
  const { guard } = guardBench();
  assert.doesNotThrow(() => guard.check({ name: LONG.slice(1), lockAtMostFor: '1m' }));
  await assert.rejects(
    guard.run({ name: LONG, lockAtMostFor: '1m' }, never),
    /has 65 characters, more than 64/,
  );
});

void test('a guard with a wider table accepts longer names', async () => {
  const { store, clock } = guardBench();
  const lockProvider = new StorageBasedLockProvider(store, { clock, nameLength: 255 });
  const { guard } = guardBench({ lockProvider, nameLength: 255, clock });
  assert.deepEqual(await guard.run({ name: LONG, lockAtMostFor: '1m' }, () => 1), {
    executed: true,
    value: 1,
  });
  assert.throws(
    () => guard.check({ name: 'n'.repeat(256), lockAtMostFor: '1m' }),
    InvalidLockConfigurationError,
  );
});

for (const nameLength of [0, 16, 256, 1.5, NaN]) {
  void test(`a nameLength of ${nameLength} is rejected`, () => {
    assert.throws(
      () => guardBench({ nameLength }),
      /nameLength is .*: it must be a whole number from 17 to 255/,
    );
  });
}
