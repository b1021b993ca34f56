import assert from 'node:assert/strict';
import { turn } from './lock-bench';

/** Resolves as soon as something that nobody tells of has come about; rejects when it has not within five seconds. */
export async function eventually(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const givenUpAtMs = performance.now() + 5000;
  while (!(await condition())) {
    assert.ok(performance.now() < givenUpAtMs, `not within 5 s: ${what}`);
    await turn();
  }
}
