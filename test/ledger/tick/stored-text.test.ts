import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storedError, storedResult } from '#cronlatch/ledger/tick/stored-text';

const MARK = '… (cut)';
const RESULT_BYTES = 64 * 1024;

void test('a result is truncated by bytes, with a mark, never inside a character (L-56)', () => {
  const longest = 'x'.repeat(RESULT_BYTES - 2);
  assert.equal(storedResult(longest), `"${longest}"`);
  for (const character of ['x', 'é', '…', '😀']) {
    for (const shift of ['', 'a', 'ab', 'abc']) {
      const text = storedResult(shift + character.repeat(RESULT_BYTES));
      assert.ok(text !== undefined && text.endsWith(MARK));
      const bytes = Buffer.byteLength(text);
      assert.ok(bytes <= RESULT_BYTES && bytes > RESULT_BYTES - 4, `${bytes} bytes`);
      const kept = text.slice(1 + shift.length, -MARK.length);
      assert.equal(kept, character.repeat(kept.length / character.length), 'nothing but whole characters');
    }
  }
});

void test('an error is stored with its stack, its causes and its inner errors (L-30)', () => {
  const error = new AggregateError([new TypeError('one'), 'two'], 'both', { cause: new Error('deep') });
  const text = storedError(error);
  for (const part of [
    /^AggregateError: both\n\s+at /,
    /\none of: TypeError: one\n\s+at /,
    /\none of: thrown: two\n/,
    /\ncaused by: Error: deep\n/,
  ])
    assert.match(text, part);
});

void test('an error without a stack is stored by its name and message (L-30)', () => {
  const error = new RangeError('no stack');
  delete error.stack;
  assert.equal(storedError(error), 'RangeError: no stack');
});

void test('of any other thrown object only its type is stored (L-30)', () => {
  assert.equal(storedError({ password: 'secret' }), 'thrown: [object Object]');
});
