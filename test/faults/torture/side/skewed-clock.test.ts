import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

/** The output of a process with this clock. */
function printedBy(script: string): string {
  return execFileSync(process.execPath, ['--require', join(__dirname, 'skewed-clock.js'), '--eval', script], {
    env: { ...process.env, CRONLATCH_TORTURE_SKEW_MS: '3600000' },
    encoding: 'utf8',
  }).trim();
}

void test('a skewed clock is ahead for every read of the time, and leaves given instants unchanged', () => {
  const [now, made, given] = printedBy(
    'console.log([Date.now(), new Date().getTime(), new Date(5).getTime()].join())',
  )
    .split(',')
    .map(Number);
  for (const shown of [now, made]) assert.ok(Math.abs((shown ?? NaN) - 3_600_000 - Date.now()) < 60_000);
  assert.equal(given, 5);
  assert.equal(printedBy("console.log(new Date(5) instanceof Date, Date.parse('1970-01-01'))"), 'true 0');
});
