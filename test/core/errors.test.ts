import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import * as cronlatch from 'cronlatch';

const { CronlatchError, InvalidLockUseError, LockLostError, LockStorageError, SchemaMismatchError } =
  cronlatch;

void test('every error has a name, a distinct stable code and its cause', () => {
  const cause = new Error('why');
  const types = Object.values(cronlatch).filter(
    (value) => Object.hasOwn(value, 'code') && value !== CronlatchError,
  );
  const errors = (types as (typeof CronlatchError)[]).map((type) => new type('what', { cause }));
  assert.ok(errors.length > 10);
  for (const error of errors) {
    assert.ok(error instanceof CronlatchError && error instanceof Error);
    assert.equal(error.name, error.constructor.name);
    assert.match(error.code, /^CRONLATCH_[A-Z_]+$/);
    assert.equal(error.cause, cause);
  }
  assert.equal(new Set(errors.map(({ code }) => code)).size, errors.length);
});

void test('instanceof distinguishes the errors, and works for subclasses', () => {
  assert.ok(new SchemaMismatchError('x') instanceof LockStorageError);
  assert.ok(!(new LockStorageError('x') instanceof SchemaMismatchError));
  assert.ok(!(new LockLostError('x') instanceof LockStorageError));
  for (const other of [new Error('x'), null, undefined, 'x', {}])
    assert.ok(!(other instanceof CronlatchError));
  class Mine extends LockLostError {}
  assert.ok(new Mine('x') instanceof LockLostError && new Mine('x') instanceof Mine);
  assert.ok(!(new LockLostError('x') instanceof Mine));
});

void test('an error of a second copy of the library is recognised by its code', () => {
  const load = createRequire(__filename);
  const path = load.resolve('#cronlatch/core/errors');
  const loaded = load.cache[path];
  delete load.cache[path];
  const second = load(path) as typeof cronlatch;
  load.cache[path] = loaded;
  assert.notEqual(second.LockLostError, LockLostError);
  assert.ok(new second.LockLostError('x') instanceof LockLostError);
  assert.ok(new second.LockLostError('x') instanceof CronlatchError);
  assert.ok(!(new second.LockLostError('x') instanceof InvalidLockUseError));
  assert.ok(new second.SchemaMismatchError('x') instanceof SchemaMismatchError);
  assert.ok(new second.SchemaMismatchError('x') instanceof LockStorageError);
  assert.ok(!(new second.LockStorageError('x') instanceof SchemaMismatchError));
});

void test('a storage error has the outcome of its statement, which is unknown by default', () => {
  assert.equal(new LockStorageError('x').outcome, 'unknown');
  const error = new LockStorageError('x', { outcome: 'nothing-ran', driverCode: 'ER_NO_SUCH_TABLE' });
  assert.deepEqual([error.outcome, error.driverCode], ['nothing-ran', 'ER_NO_SUCH_TABLE']);
});
