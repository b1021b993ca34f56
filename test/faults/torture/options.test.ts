import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseOptions, USAGE, UsageError } from './options';
import { ROWS } from './rows';

void test('all rows on MySQL are the default', () => {
  assert.deepEqual(parseOptions([]), { server: 'mysql', rows: ROWS });
});

void test('one row, and another database', () => {
  assert.deepEqual(parseOptions(['--server', 'sqlite', '--row', '3']), { server: 'sqlite', rows: [ROWS[2]] });
});

void test('help is printed on request, and names every row', () => {
  assert.equal(parseOptions(['--help']), 'help');
  for (const { title } of ROWS) assert.ok(USAGE.includes(title));
});

for (const args of [
  ['--server', 'oracle'],
  ['--row', '7'],
  ['--row', '1.5'],
  ['--row', ''],
  ['--rows'],
  ['3'],
])
  void test(`${args.join(' ')} is rejected`, () => assert.throws(() => parseOptions(args), UsageError));
