import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockConfigurationError, lockName } from 'cronlatch';
import fc from 'fast-check';

void test('lockName joins its parts with colons', () => {
  assert.equal(lockName('ORDER', 17), 'ORDER:17');
  assert.equal(lockName('file', 'a/b.csv', 9007199254740993n), 'file:a/b.csv:9007199254740993');
});

void test('different parts never give the same name', () => {
  const parts = fc.array(fc.string({ minLength: 1, unit: fc.constantFrom(...':%3Aa25') }), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(parts, parts, (left, right) => {
      const isSame = JSON.stringify(left) === JSON.stringify(right);
      assert.equal(nameOf(left) === nameOf(right), isSame);
    }),
  );
});

void test('a part that is empty, or neither a text nor a whole number, is refused by its position', () => {
  for (const part of ['', 1.5, NaN, 2 ** 53, undefined, null, {}, ['a'], true]) {
    assert.throws(
      () => nameOf(['ORDER', part]),
      (error: unknown) => error instanceof InvalidLockConfigurationError && /^Part 2 of /.test(error.message),
    );
  }
});

function nameOf(parts: readonly unknown[]): string {
  return lockName(...(parts as [string]));
}
