import assert from 'node:assert/strict';
import { turn } from '../benches/lock';

/** A busy machine can take long. A condition that never holds is named before the time limit of its test file. */
const LONGEST_MS = 60_000;

/** Polls until the condition holds, and rejects if it never does. */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  what: string,
  longestMs = LONGEST_MS,
): Promise<void> {
  const givenUpAtMs = performance.now() + longestMs;
  while (!(await condition())) {
    assert.ok(performance.now() < givenUpAtMs, `not within ${longestMs / 1000} s: ${what}`);
    await turn();
  }
}
