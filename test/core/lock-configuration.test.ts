import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { InvalidLockConfigurationError, type LockConfiguration } from 'cronlatch';
import { WRONG_NAMES } from '#cronlatch/contracts/names';
import { checkDeclaredConfiguration, checkLockConfiguration } from '#cronlatch/core/lock-configuration';
import { checkLockName } from '#cronlatch/core/lock-name';

const GOOD_NAMES = [
  'a',
  'close-day',
  'x'.repeat(64),
  '😀'.repeat(64),
  'Zeitabschluß',
  '日次処理',
  "job'; DROP TABLE shedlock; --",
  'a b',
  'a\u200Db',
  '%',
  '\\',
];
const BAD_NAMES: unknown[] = [
  ...WRONG_NAMES,
  ...['x'.repeat(65), '😀'.repeat(65), 'ỗ'.normalize('NFD')],
  ...[undefined, null, 7, {}, ['a'], Symbol('a')],
];

void test('names that every store keeps unchanged are accepted unchanged', () => {
  for (const name of GOOD_NAMES) checkLockName(name);
});

void test('a name that some store could change is refused in a short message', () => {
  for (const name of BAD_NAMES)
    assert.throws(
      () => checkLockName(name),
      (error) =>
        error instanceof InvalidLockConfigurationError &&
        error.message.includes('cannot be the name of a lock') &&
        error.message.length < 300,
      inspect(name).slice(0, 20),
    );
});

void test('a name of any length is refused in constant time', (t) => {
  const walks = t.mock.method(Array, 'from');
  const quotes = t.mock.method(JSON, 'stringify');
  assert.throws(() => checkLockName('n'.repeat(1_000_000)), /it has 1000000 characters, more than 64/);
  const seen = [...walks.mock.calls, ...quotes.mock.calls].map(
    ({ arguments: [value] }) => String(value).length,
  );
  assert.deepEqual(
    seen.filter((length) => length > 255),
    [],
  );
});

void test('an accepted name has at most 64 characters, no white space at either end, and is in form C', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (name) => {
      try {
        checkLockName(name);
      } catch (error) {
        assert.ok(error instanceof InvalidLockConfigurationError);
        return;
      }
      assert.ok(
        [...name].length <= 64 &&
          name === name.trim() &&
          name === name.normalize('NFC') &&
          name.isWellFormed(),
      );
    }),
    { numRuns: 2000 },
  );
});

const REFUSED: [Partial<LockConfiguration>, RegExp][] = [
  [{ lockAtMostFor: undefined }, /lockAtMostFor of lock 'job' is missing/],
  [{ lockAtMostFor: 0 }, /lockAtMostFor of lock 'job' is 0: it must be longer than zero/],
  [{ lockAtMostFor: '0s' }, /longer than zero/],
  [{ lockAtMostFor: 0.0001 }, /longer than zero/],
  [{ lockAtLeastFor: '2h' }, /lockAtLeastFor \(2h\) is longer than lockAtMostFor \(1h\) for lock 'job'/],
  [{ lockAtLeastFor: -1 }, /lockAtLeastFor of lock 'job'/],
  [{ keepAlive: '31m' }, /keepAlive \(31m\) of lock 'job' is longer than half/],
  [{ keepAlive: 0 }, /keepAlive of lock 'job' is 0/],
  [{ maxLockDuration: '2h' }, /maxLockDuration of lock 'job' has no meaning without keepAlive/],
  [
    { keepAlive: true, maxLockDuration: '59m' },
    /maxLockDuration \(59m\) of lock 'job' is shorter than its lockAtMostFor/,
  ],
];

for (const [part, message] of REFUSED) {
  void test(`${JSON.stringify(part)} is refused, with the name of the lock and the value (F-80)`, () => {
    assert.throws(() => checkLockConfiguration({ name: 'job', lockAtMostFor: '1h', ...part }), {
      code: 'CRONLATCH_INVALID_CONFIGURATION',
      message,
    });
  });
}

void test('a configuration is converted into milliseconds, with its defaults', () => {
  assert.deepEqual(checkLockConfiguration({ name: 'job', lockAtMostFor: '30s' }), {
    name: 'job',
    lockAtMostForMs: 30_000,
    lockAtLeastForMs: 0,
    renewEveryMs: undefined,
    maxLockDurationMs: 86_400_000,
  });
  assert.equal(
    checkLockConfiguration({ name: 'job', lockAtMostFor: '30s', keepAlive: true }).renewEveryMs,
    10_000,
  );
  assert.equal(
    checkLockConfiguration({ name: 'job', lockAtMostFor: '30s', keepAlive: '5s' }).renewEveryMs,
    5000,
  );
  assert.equal(
    checkLockConfiguration({ name: 'job', lockAtMostFor: '2d', keepAlive: true }).maxLockDurationMs,
    172_800_000,
  );
});

void test('before the guard is known, only what its defaults cannot fix is refused', () => {
  checkDeclaredConfiguration({ name: 'job' });
  checkDeclaredConfiguration({ name: 'x'.repeat(200), lockAtMostFor: '1m', nameLength: 255 });
  assert.throws(() => checkDeclaredConfiguration({ name: 'x'.repeat(65) }), InvalidLockConfigurationError);
  assert.throws(
    () => checkDeclaredConfiguration({ name: 'job', lockAtLeastFor: '1' }),
    InvalidLockConfigurationError,
  );
  assert.throws(() => checkDeclaredConfiguration({ name: 'job', nameLength: 256 }), /nameLength is 256/);
});
