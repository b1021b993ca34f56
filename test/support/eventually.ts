import assert from 'node:assert/strict';
import { turn } from './lock-bench';

/** Polls until the condition holds, and rejects if it does not within five seconds. */
export async function eventually(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const givenUpAtMs = performance.now() + 5000;
  while (!(await condition())) {
    assert.ok(performance.now() < givenUpAtMs, `not within 5 s: ${what}`);
    await turn();
  }
}
