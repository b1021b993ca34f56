import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SchedulerLock, type LockConfiguration } from 'cronlatch';

const ok = { name: 'job', lockAtMostFor: '10m' };
const of = (more: Partial<Record<keyof LockConfiguration, unknown>>): LockConfiguration =>
  ({ ...ok, ...more }) as LockConfiguration;

const REFUSED: [LockConfiguration, RegExp][] = [
  [of({ name: '' }), /^"" cannot be the name of a lock: it must not be empty/],
  [of({ name: 'n'.repeat(65) }), /it has 65 characters, more than 64/],
  [of({ name: ' job' }), /" job" .* white space/],
  [of({ name: 'job\n' }), /control character/],
  [of({ name: 'a\u0000b' }), /control character/],
  [of({ name: 'e\u0301' }), /normal form C/],
  [of({ name: '\ud800' }), /surrogate/],
  [of({ name: 7 }), /^7 cannot be the name of a lock: it must be a string/],
  [of({ name: undefined }), /^undefined cannot be the name/],
  [of({ lockAtMostFor: '10' }), /^lockAtMostFor of lock 'job' is "10", which is not a duration/],
  [of({ lockAtMostFor: 0 }), /^lockAtMostFor of lock 'job' is 0: it must be longer than zero/],
  [of({ lockAtMostFor: '0s' }), /longer than zero/],
  [of({ lockAtMostFor: -1 }), /^lockAtMostFor of lock 'job' is -1: it must lie between/],
  [of({ lockAtMostFor: NaN }), /is NaN, which is not a duration/],
  [of({ lockAtMostFor: Infinity }), /is Infinity: it must lie between/],
  [of({ lockAtMostFor: 'P1M' }), /"P1M", which is not a duration/],
  [of({ lockAtMostFor: '366d' }), /"366d": it must lie between 0 and 365 days/],
  [of({ lockAtMostFor: new Date(0) }), /which is not a duration/],
  [of({ lockAtMostFor: null }), /is null, which is not a duration/],
  [of({ lockAtLeastFor: '-1s' }), /^lockAtLeastFor of lock 'job' is "-1s"/],
  [
    of({ lockAtLeastFor: '11m' }),
    /^lockAtLeastFor \(11m\) is longer than lockAtMostFor \(10m\) for lock 'job'/,
  ],
  [{ name: 'job', lockAtLeastFor: 'soon' }, /^lockAtLeastFor of lock 'job' is "soon"/],
  [of({ keepAlive: '6m' }), /keepAlive \(6m\) of lock 'job' is longer than half/],
  [of({ keepAlive: true, maxLockDuration: '1m' }), /maxLockDuration \(1m\) of lock 'job' is shorter/],
  [{ name: 'job', keepAlive: 'often' }, /^keepAlive of lock 'job' is "often"/],
  [{ name: 'job', keepAlive: true, maxLockDuration: 0 }, /^maxLockDuration of lock 'job' is 0/],
  [
    of({ keepAlive: false, maxLockDuration: '1h' }),
    /maxLockDuration of lock 'job' has no meaning without keepAlive/,
  ],
  [of({ nameLength: 256 }), /nameLength is 256/],
];

for (const [configuration, message] of REFUSED) {
  void test(`${JSON.stringify(configuration)} is refused before the method is ever called (F-80)`, () => {
    assert.throws(
      () => {
        class Jobs {
          @SchedulerLock(configuration)
          async nightly(): Promise<void> {}
        }
        return Jobs;
      },
      { name: 'InvalidLockConfigurationError', message },
    );
  });
}

const TAKEN: LockConfiguration[] = [
  { name: 'n'.repeat(64), lockAtMostFor: '1m' },
  { name: '🔒'.repeat(64), lockAtMostFor: '1m' },
  { name: 'n'.repeat(255), lockAtMostFor: '1m', nameLength: 255 },
  { name: 'without lockAtMostFor', lockAtLeastFor: '1m' },
  { name: 'equal', lockAtMostFor: '1m', lockAtLeastFor: 60_000 },
  { name: 'with the keepAlive of the guard', lockAtMostFor: '1m', maxLockDuration: '1h' },
  { name: 'a sum', lockAtMostFor: '1d2h30m', keepAlive: '1h', maxLockDuration: '365d' },
];

for (const configuration of TAKEN) {
  void test(`${JSON.stringify(configuration)} is accepted`, () => {
    class Jobs {
      @SchedulerLock(configuration)
      async nightly(): Promise<void> {}
    }
    assert.equal(Jobs.prototype.nightly.name, 'nightly');
  });
}

void test('the same is refused with positional arguments (F-80)', () => {
  assert.throws(() => SchedulerLock('job', '10'), /lockAtMostFor of lock 'job' is "10"/);
  assert.throws(() => SchedulerLock('job', '1m', '2m'), /lockAtLeastFor \(2m\)/);
  assert.throws(() => SchedulerLock('job ', '1m'), /white space/);
});
