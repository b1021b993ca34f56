import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { InvalidLockConfigurationError } from 'cronlatch';
import type { LockTableOptions } from '#cronlatch/storage/sql/schema/table-options';
import { tableOf } from '#cronlatch/storage/sql/schema/tables';
import { INJECTED_NAMES } from '#cronlatch/contracts/names';

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_$]{0,62}$/;

/** Every option in which an application names something in the database. */
const PLACES: Readonly<Record<string, (identifier: string) => LockTableOptions>> = {
  lockTable: (lockTable) => ({ lockTable }),
  'lockTable in a schema': (lockTable) => ({ lockTable, schema: 'locks' }),
  schema: (schema) => ({ schema }),
  'columns.name': (name) => ({ columns: { name } }),
  'columns.lockUntil': (lockUntil) => ({ columns: { lockUntil } }),
  'columns.lockedAt': (lockedAt) => ({ columns: { lockedAt } }),
  'columns.lockedBy': (lockedBy) => ({ columns: { lockedBy } }),
  'columns.fencingToken': (fencingToken) => ({ columns: { fencingToken } }),
};

/** Accepted names consist of identifiers; every other name throws a typed error. */
function isPlainOrRefused(options: LockTableOptions): 'plain' | 'refused' {
  try {
    const { path, columns } = tableOf('lock', options);
    assert.ok(path.length === 1 || path.length === 2);
    for (const part of [...path, ...columns.map(({ name }) => name)]) assert.match(part, IDENTIFIER);
    return 'plain';
  } catch (error) {
    if (error instanceof InvalidLockConfigurationError) return 'refused';
    throw error;
  }
}

void test('a name that would break out of a statement is refused in every option (F-67)', () => {
  assert.ok(INJECTED_NAMES.length >= 300);
  for (const name of INJECTED_NAMES)
    for (const [place, options] of Object.entries(PLACES)) {
      const verdict = isPlainOrRefused(options(name));
      if (!IDENTIFIER.test(name)) assert.equal(verdict, 'refused', `${place}: ${name}`);
    }
});

void test('random texts are accepted only if they are identifiers (F-67)', () => {
  const identifier = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 80 }),
    fc.stringMatching(/^[A-Za-z_$0-9.`"' -]{0,70}$/),
    fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_$]{0,64}$/),
    fc.constantFrom(...INJECTED_NAMES),
  );
  const seen = { plain: 0, refused: 0 };
  const places = fc.constantFrom(...Object.values(PLACES));
  fc.assert(
    fc.property(identifier, places, (text, place) => void (seen[isPlainOrRefused(place(text))] += 1)),
    { numRuns: 10_000 },
  );
  // Neither side may be empty, or this test would prove nothing.
  assert.ok(seen.plain > 500 && seen.refused > 500, JSON.stringify(seen));
});

void test('an identifier is a text of 1 to 63 characters without a line break (F-67)', () => {
  const lengths = [0, 64, 1000].map((length) => 'x'.repeat(length));
  const lines = ['\n', '\r\n', '\u2028'].map((end) => `locks${end}`);
  const wrong = [...lengths, ...lines, null, 0, 1, true, {}, [], ['locks'], Symbol('locks')];
  for (const [place, options] of Object.entries(PLACES)) {
    assert.equal(isPlainOrRefused(options('x'.repeat(63))), 'plain');
    for (const each of wrong) assert.equal(isPlainOrRefused(options(each as string)), 'refused', place);
  }
});

void test('a single dot separates the schema from its table', () => {
  assert.deepEqual(tableOf('lock', { lockTable: 'locks.shedlock' }).path, ['locks', 'shedlock']);
  assert.deepEqual(tableOf('lock', { lockTable: 'shedlock', schema: 'locks' }).path, ['locks', 'shedlock']);
  for (const lockTable of ['a.b.c', '.shedlock', 'locks.', '.', 'locks..shedlock'])
    assert.throws(() => tableOf('lock', { lockTable }), InvalidLockConfigurationError);
  assert.throws(() => tableOf('lock', { lockTable: 'a.b', schema: 'c' }), InvalidLockConfigurationError);
});

void test('two columns with the same name are refused', () => {
  assert.throws(() => tableOf('lock', { columns: { lockedBy: 'name' } }), InvalidLockConfigurationError);
});
