import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guardBench } from '../support/benches/guard';

const job = { name: 'job', scheduledAt: undefined };
const PREFIX = "error: cronlatch run:failed: job 'job' failed after 1 ms. Cause: ";

function lineOf(error: unknown): string {
  const { events, lines } = guardBench();
  events.emit('run:failed', { ...job, error, durationMs: 1 });
  assert.equal(lines.length, 1);
  return lines[0] ?? '';
}

void test('a line has no characters that move the cursor, end the line, change the text direction or are invisible (F-97)', () => {
  const codes = [...Array(0x20).keys(), ...Array.from({ length: 0x21 }, (_, index) => 0x7f + index)];
  const invisible = [0xad, 0x200b, 0x200c, 0x200d, 0x2060, 0x2064, 0xfeff, 0xfe0f, 0xe0001, 0xe0041, 0xe007f];
  const bidi = [
    0x61c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069,
  ];
  for (const code of [...codes, ...bidi, ...invisible, 0x2028, 0x2029]) {
    const line = lineOf(new Error(`before${String.fromCodePoint(code)}after`));
    assert.doesNotMatch(
      line,
      /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\p{Default_Ignorable_Code_Point}]/u,
      code.toString(16),
    );
    assert.match(line, /before.*after$/);
  }
});

void test('line breaks become spaces, and the text stays readable without the other characters', () => {
  assert.equal(lineOf(new Error('one\r\ntwo\u0085three')), `${PREFIX}Error: one two three`);
  assert.equal(lineOf(new Error('\u001b[2K\u202egreen')), `${PREFIX}Error: \\u001b[2K\\u202egreen`);
  assert.equal(lineOf(new Error('Zoë paid 3 €, 👍')), `${PREFIX}Error: Zoë paid 3 €, 👍`);
});

void test('a long line is truncated, with the number of missing characters', () => {
  const line = lineOf(new Error('x'.repeat(5_000_000)));
  assert.ok(line.length < 9000);
  assert.match(line, /x… \(4[\d,]+ more characters\)$/);
  assert.ok(lineOf(new Error('\u001b'.repeat(5_000_000))).length < 9000);
  assert.ok(lineOf(new Error('x'.repeat(8100))).endsWith('x'));
});

void test('truncation does not leave half a character', () => {
  for (const length of [8000, 8001]) {
    const line = lineOf(new Error(`${'x'.repeat(length)}${'👍'.repeat(500)}`));
    assert.match(line, /👍… \([\d,]+ more characters\)$/);
    assert.ok(!line.includes('\ufffd'));
  }
});
