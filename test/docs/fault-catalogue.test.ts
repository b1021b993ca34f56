import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const PAGE = 'docs/internals/faults.md';

/** All known faults, from the first id of each kind to its last one. */
const CATALOGUE = [
  ...ids(1, 19), // of the process and its event loop
  ...ids(20, 29), // of clocks
  ...ids(30, 59), // of database and network
  ...ids(60, 78), // of the table and its operator
  ...ids(80, 99), // of use
];

/** The third column of each fault: `test`, or why there is none. */
const ROWS = new Map(
  readFileSync(PAGE, 'utf8')
    .split('\n')
    .filter((line) => /^\| F-/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([, id = '', , how = '']) => [id, how]),
);

/** The ids in brackets at the end of the names of tests and of the contract's cases. */
const TESTED = new Set(['test', 'src/contracts'].flatMap(sourcesBelow).flatMap(idsInNames));

function ids(first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, i) => `F-${String(first + i).padStart(2, '0')}`);
}

function sourcesBelow(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.ts')).map((file) => join(folder, file));
}

/** `'a sentence (P1, F-47)'`, in any quotes. A case that a kind of store leaves out does not count. */
function idsInNames(file: string): string[] {
  const source = readFileSync(file, 'utf8').replace(/leaveOut\([^)]*\)/g, '');
  const names = source.matchAll(/ \(([A-Z]+-?\d+(?:, [A-Z]+-?\d+)*)\)['"`]/g);
  return [...names].flatMap(([, all = '']) => all.split(', ').filter((id) => id.startsWith('F-')));
}

function saysTest(how: string): boolean {
  return /^test\b/.test(how);
}

void test('the page has every fault of the catalogue, once and in order, and no other', () => {
  const rows = readFileSync(PAGE, 'utf8').matchAll(/^\| (F-\d+) /gm);
  assert.deepEqual(
    [...rows].map(([, id]) => id),
    CATALOGUE,
  );
});

void test('every fault that a test names is on the page', () => {
  assert.deepEqual(
    [...TESTED].filter((id) => !ROWS.has(id)),
    [],
  );
});

void test('every fault marked as tested has a test', () => {
  const promised = [...ROWS].filter(([, how]) => saysTest(how)).map(([id]) => id);
  assert.deepEqual(
    promised.filter((id) => !TESTED.has(id)),
    [],
  );
});

void test('every other fault has a reason, and no test', () => {
  const others = [...ROWS].filter(([, how]) => !saysTest(how));
  assert.deepEqual(
    others.filter(([, how]) => how === ''),
    [],
  );
  assert.deepEqual(
    others.map(([id]) => id).filter((id) => TESTED.has(id)),
    [],
  );
});
