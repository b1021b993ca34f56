import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ROWS, type Row } from '../rows';
import type { Count } from './judge';
import { complaintsAbout, verdictLine, type RowResult } from './verdict';

const CLEAN: Count = { fires: 3, runs: 3, hits: 0, duplicates: 0, overlaps: 0, lost: 0 };
const [SKEW, , LONG, KILLED] = ROWS as [Row, Row, Row, Row];

const result = (row: Row, cronlatch: Partial<Count>, peer: Partial<Count>): RowResult => ({
  row,
  counts: { cronlatch: { ...CLEAN, ...cronlatch }, 'node-cron+redis': { ...CLEAN, ...peer } },
});

void test('there are no complaints if cronlatch has no faults, and node-cron has the known one', () => {
  const results = [result(SKEW, {}, { duplicates: 2 }), result(LONG, {}, { overlaps: 3, duplicates: 1 })];
  assert.deepEqual(complaintsAbout(results), []);
  assert.equal(
    verdictLine(results),
    'torture: cronlatch duplicates=0 overlaps=0 lost=0 · node-cron+redis duplicates=3 overlaps=3 lost=0',
  );
});

void test('each fault of cronlatch is a complaint', () => {
  const results = [
    result(SKEW, { duplicates: 1, lost: 2 }, { duplicates: 1 }),
    result(LONG, { overlaps: 1 }, { overlaps: 1 }),
  ];
  assert.deepEqual(complaintsAbout(results), [
    'row 1: cronlatch duplicates=1, and must have none.',
    'row 1: cronlatch lost=2, and must have none.',
    'row 3: cronlatch overlaps=1, and must have none.',
  ]);
  assert.match(verdictLine(results), /^torture: cronlatch duplicates=1 overlaps=1 lost=2 ·/);
});

void test('a row in which node-cron does not show its known fault shows nothing', () => {
  const [complaint, ...more] = complaintsAbout([result(SKEW, {}, { overlaps: 1, lost: 1 })]);
  assert.match(complaint ?? '', /^row 1: node-cron\+redis duplicates=0, .*shows nothing/);
  assert.deepEqual(more, []);
});

void test('a row in which no blow hit cronlatch shows nothing', () => {
  const [complaint, ...more] = complaintsAbout([result(KILLED, { hits: 0 }, { lost: 1 })]);
  assert.match(complaint ?? '', /^row 4: cronlatch received no blow/);
  assert.deepEqual(more, []);
  assert.deepEqual(complaintsAbout([result(KILLED, { hits: 1 }, { lost: 1 })]), []);
});
