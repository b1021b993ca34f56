import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storedError, storedResult } from '#cronlatch/ledger/tick/stored-text';

const MARK = '… (cut)';
const RESULT_BYTES = 64 * 1024;
const ERROR_BYTES = 8 * 1024;

void test('a result is stored as JSON (L-56)', () => {
  const cases: readonly [unknown, string | undefined][] = [
    [{ closed: 3, on: new Date(0) }, '{"closed":3,"on":"1970-01-01T00:00:00.000Z"}'],
    ['🧾', '"🧾"'],
    [null, 'null'],
    [undefined, undefined],
    [() => 3, undefined],
    [Symbol('s'), undefined],
  ];
  for (const [value, text] of cases) assert.equal(storedResult(value), text);
});

void test('a result that cannot be JSON is not stored, with a reason (L-56)', () => {
  const cyclic: { self?: object } = {};
  cyclic.self = cyclic;
  const thrown = new Error('not me');
  const refusing = {
    toJSON() {
      throw thrown;
    },
  };
  for (const value of [3n, cyclic]) assert.throws(() => storedResult(value), TypeError);
  assert.throws(() => storedResult(refusing), thrown);
});

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

void test('an error that is its own cause is stored once (L-30)', () => {
  const error = new Error('round');
  error.stack = 'Error: round';
  error.cause = new Error('half', { cause: error });
  assert.match(
    storedError(error),
    /^Error: round\ncaused by: Error: half\n[^]*\ncaused by: Error \(again\)$/,
  );
});

void test('any thrown value is stored, objects only by their type (L-30)', () => {
  const cases: readonly [unknown, string][] = [
    [null, 'thrown: null'],
    [undefined, 'thrown: undefined'],
    ['no bank', 'thrown: no bank'],
    [3n, 'thrown: 3'],
    [Symbol('s'), 'thrown: Symbol(s)'],
    [{ password: 'secret' }, 'thrown: [object Object]'],
    [Object.create(null), 'thrown: [object Object]'],
  ];
  for (const [thrown, text] of cases) assert.equal(storedError(thrown), text);
  const refusing = {
    get [Symbol.toStringTag](): string {
      throw new Error('no tag either');
    },
  };
  assert.equal(storedError(refusing), 'thrown: object');
});

void test('characters that a store cannot keep are replaced (L-30)', () => {
  assert.equal(storedError('a\0b'), 'thrown: a\\0b');
  assert.equal(storedError('half \ud83d'), 'thrown: half \ufffd');
});

void test('an error is truncated by bytes, with a mark (L-30)', () => {
  const text = storedError('é'.repeat(ERROR_BYTES));
  assert.ok(text.endsWith(`é${MARK}`));
  assert.ok(Buffer.byteLength(text) <= ERROR_BYTES && Buffer.byteLength(text) > ERROR_BYTES - 4);
});
