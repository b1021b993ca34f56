import assert from 'node:assert/strict';
import { InvalidLockConfigurationError } from 'cronlatch';

/** Expects an invalid configuration to be refused, with a message that contains each of these texts. */
export function refused(call: () => unknown, ...texts: readonly string[]): void {
  assert.throws(call, (error) => {
    assert.ok(error instanceof InvalidLockConfigurationError);
    for (const text of texts) assert.ok(error.message.includes(text), error.message);
    return true;
  });
}
