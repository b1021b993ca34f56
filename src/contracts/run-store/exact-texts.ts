import assert from 'node:assert/strict';
import type { Run } from '../../ledger/run';
import { cases } from './contract-cases';
import { CLAIM, LIMIT, inserted, runOf, running, written } from './runs';

/** What is written about a run is read as it was written, up to the longest that the ledger writes. */
export const exactTexts = cases({
  async 'L-56 the longest texts come back whole, four-byte characters too'({ store, other }) {
    await inserted(store, running());
    const of = (length: number): string => `${'\u{1f512}'.repeat(length - 1)}\u{1f510}`;
    const texts = {
      claimedBy: of(255),
      lockId: of(128),
      reason: of(32),
      error: of(2048),
      timeZone: undefined,
    };
    const { lockId, claimedBy, reason, error } = await written(store, () => texts);
    const run = await runOf(other);
    assert.deepEqual(
      { lockId: run.lockId, claimedBy: run.claimedBy, reason: run.reason, error: run.error },
      { lockId, claimedBy, reason, error },
    );
    const result = `"${of(16 * 1024)}… [cut]"`;
    assert.equal(await other.complete({ ...CLAIM, claimedBy: of(255) }, result, LIMIT), true);
    assert.equal((await runOf(store)).result, result);
  },

  async 'L-56 texts that would break out of a statement come back as they are'({ store }) {
    await inserted(store, running());
    const text = `'"\\\`; -- $1 :name ? %s \${x} \\' \n\t\r\n {"a":"\\u0000"} '' \u2028`;
    const texts: Partial<Run> = { error: text, reason: text.slice(0, 32) };
    await written(store, () => texts);
    const { error, reason } = await runOf(store);
    assert.deepEqual({ error, reason }, texts);
    assert.equal(await store.complete(CLAIM, text, LIMIT), true);
    assert.equal((await runOf(store)).result, text);
  },

  async 'L-56 an empty text is not none'({ store }) {
    await inserted(store, running());
    await written(store, () => ({ error: '', reason: '' }));
    const { error, reason } = await runOf(store);
    assert.deepEqual({ error, reason }, { error: '', reason: '' });
    assert.equal(await store.complete(CLAIM, '', LIMIT), true);
    assert.equal((await runOf(store)).result, '');
  },
});
