import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { InvalidLockConfigurationError } from 'cronlatch';
import { parseDuration } from '#cronlatch/core/duration';

const MEANT: [number | string, number][] = [
  [0, 0],
  [250, 250],
  [0.5, 0.5],
  ['500ms', 500],
  ['30s', 30_000],
  ['10m', 600_000],
  ['2h', 7_200_000],
  ['1d', 86_400_000],
  ['365d', 31_536_000_000],
  ['1.5h', 5_400_000],
  ['1h30m', 5_400_000],
  ['1d2h3m4s5ms', 93_784_005],
  ['PT10M', 600_000],
  ['PT0.5S', 500],
  ['P1DT12H', 129_600_000],
  ['P2D', 172_800_000],
];

const NOT_MEANT: unknown[] = [
  ...['', ' ', '10 m', ' 10m', '10m '],
  ...'10 1x -1s +1s 1m1h 1h1h 1e3s .5s 5.s 10M 10min m ten ٣s'.split(' '),
  ...'P PT P1M P1Y P1W PT10 P1DT pt10m P10M P1H PT1D -PT1S PT-1S'.split(' '),
  ...[NaN, Infinity, -Infinity, -1, 365 * 86_400_000 + 1, '366d', '9'.repeat(400) + 'd', 'P366D'],
  ...[null, undefined, true, {}, [], [1], 10n, new Date(0), Symbol('10m')],
];

void test('a duration is read in each of its forms', () => {
  for (const [value, milliseconds] of MEANT)
    assert.equal(parseDuration(value, 'x'), milliseconds, String(value));
});

for (const value of NOT_MEANT) {
  void test(`${typeof value} ${String(value).slice(0, 20)} is not a duration, and the error names the option (F-80)`, () => {
    assert.throws(
      () => parseDuration(value as string, `lockAtMostFor of lock 'x'`),
      (error) =>
        error instanceof InvalidLockConfigurationError &&
        error.message.startsWith(`lockAtMostFor of lock 'x' is `),
    );
  });
}

void test('a sum is the total of its parts, to the microsecond', () => {
  const part = fc.integer({ min: 0, max: 9999 });
  fc.assert(
    fc.property(part, part, part, (m, s, ms) => {
      assert.equal(parseDuration(`${m}m${s}s${ms}ms`, 'x'), m * 60_000 + s * 1000 + ms);
      assert.equal(
        parseDuration(`PT${m}M${s}.${String(ms).padStart(4, '0')}S`, 'x'),
        m * 60_000 + s * 1000 + ms / 10,
      );
    }),
  );
});

void test('any text is a duration between 0 and 365 days, or a typed error (F-80)', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[PT0-9.dhmsDHMS-]{0,12}$/)), (text) => {
      try {
        const milliseconds = parseDuration(text, 'x');
        assert.ok(milliseconds >= 0 && milliseconds <= 365 * 86_400_000);
      } catch (error) {
        assert.ok(error instanceof InvalidLockConfigurationError);
      }
    }),
    { numRuns: 10_000 },
  );
});

void test('a caller can allow a longer duration', () => {
  assert.equal(parseDuration('400d', 'x', 400), 400 * 86_400_000);
  assert.throws(() => parseDuration('401d', 'x', 400), /between 0 and 400 days/);
});
