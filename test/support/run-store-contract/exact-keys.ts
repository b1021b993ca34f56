import assert from 'node:assert/strict';
import type { RunKey } from '#cronlatch/ledger/run';
import { INJECTED_NAMES, TRICKY_NAMES, randomName } from '#cronlatch/contracts/names';
import { type Instances, cases } from './fixture';
import { CLAIM, JOB, PENDING, keyOf, running, skipped, textOf } from './runs';

/** Includes keys that no job name may have, because a custom key function may return them. */
const DECOMPOSED = TRICKY_NAMES.map((name) => name.normalize('NFD'));
const ALIKE = [...new Set([...TRICKY_NAMES, ...DECOMPOSED])];

/** A key is kept exactly: never truncated, never confused with another, never run as part of a statement. */
export const exactKeys = cases((test) => [
  test('job, scope and period each distinguish runs (L1)', async (c) => {
    await areIndependent(c, [
      keyOf('a'),
      keyOf('a', { scope: 'a' }),
      keyOf('a', { job: 'a' }),
      keyOf('', { scope: 'a' }),
      keyOf('', { job: 'a' }),
      keyOf('b', { scope: 'a' }),
      keyOf('a', { scope: 'b' }),
      keyOf('aa', { job: 'a' }),
    ]);
  }),

  test('periods that look or sort alike are separate runs (L-57)', async (c) => {
    const keys = ALIKE.map((periodKey) => keyOf(periodKey));
    await areIndependent(c, keys);
  }),

  test('scopes that look or sort alike have separate runs (L-57)', async (c) => {
    const keys = ALIKE.map((scope) => keyOf('day', { scope }));
    await areIndependent(c, keys);
  }),

  test('jobs that look or sort alike have separate runs (L-57)', async (c) => {
    const keys = ALIKE.map((job) => keyOf('day', { job }));
    await areIndependent(c, keys);
    for (const job of ALIKE) {
      const { runs } = await c.other.peek({ job });
      const jobs = runs.map((run) => run.job);
      assert.deepEqual(jobs, [job]);
    }
  }),

  test('keys with SQL or template syntax are ordinary keys (L-57)', async (c) => {
    assert.ok(INJECTED_NAMES.length >= 300);
    const keys = INJECTED_NAMES.map((name, i) => keyOf(name, i % 2 ? { scope: name } : { job: name }));
    await areIndependent(c, keys);
  }),

  test('random keys are separate runs (L-57)', async (c) => {
    const name = (): string => randomName(c.random);
    const keys = Array.from({ length: 100 }, () => ({ job: name(), scope: name(), periodKey: name() }));
    await areIndependent(c, keys);
  }),

  test('64 characters are kept exactly in every part of a key, also outside the basic plane (L-57)', async (c) => {
    for (const character of ['x', '\u{1f512}']) {
      const [same, longest] = [character.repeat(63), character.repeat(64)];
      const keys = [longest, `${same}y`, same].flatMap((name) => [
        keyOf(name),
        keyOf('day', { scope: name }),
        keyOf('day', { job: name }),
        keyOf(name, { job: name, scope: name }),
      ]);
      await areIndependent(c, keys);
    }
  }),

  test('a query for one key does not return another (L-57)', async (c) => {
    const names = ['job', 'Job', 'j_b', 'j%b', '%', 'jöb', 'jo\u0308b', "'", '*'];
    await c.store.inserted(...names.map((name) => skipped(name, { scope: name })));
    for (const name of names) {
      assert.deepEqual(await c.other.periodKeys({ periodKey: name }), [name]);
      assert.deepEqual(await c.other.periodKeys({ job: JOB, scope: name }), [name]);
      assert.deepEqual(await c.other.peekedKeys({ scope: name, periodKey: name }), [name]);
    }
  }),
]);

/** Inserts each key with its own reason, and checks that the other instance finds that reason by the key. */
async function areIndependent({ store, other }: Instances, keys: readonly RunKey[]): Promise<void> {
  for (const [i, key] of keys.entries()) await store.inserted({ ...PENDING, ...key, reason: `the ${i}th` });
  for (const [i, key] of keys.entries()) {
    const { job, scope, periodKey, reason } = await other.run(key);
    assert.deepEqual({ job, scope, periodKey }, key);
    assert.equal(reason, `the ${i}th`, `${textOf(key)} should have a row of its own`);
  }
  const [last] = keys.slice(-1);
  if (last !== undefined) await other.refused({ ...PENDING, ...last });
}

/** Texts of a run are read as they were written, up to the longest text that the ledger writes. */
export const exactTexts = cases((test) => [
  test('the longest texts are returned whole, also four-byte characters (L-56)', async (c) => {
    await c.store.inserted(running());
    const of = (length: number): string => `${'\u{1f512}'.repeat(length - 1)}\u{1f510}`;
    const texts = { claimedBy: of(255), lockId: of(128), reason: of(32), error: of(2048) };
    await c.store.written(texts);
    await c.other.has(texts);
    const result = `"${of(16 * 1024)}… [cut]"`;
    assert.equal(await c.other.complete({ ...CLAIM, claimedBy: of(255) }, result), true);
    await c.store.has({ result });
  }),

  test('texts with SQL or template syntax are returned unchanged (L-56)', async (c) => {
    await c.store.inserted(running());
    const text = `'"\\\`; -- $1 :name ? %s \${x} \\' \n\t\r\n {"a":"\\u0000"} '' \u2028`;
    const texts = { error: text, reason: text.slice(0, 32) };
    await c.store.written(texts);
    await c.store.has(texts);
    await c.store.completed(text);
    await c.store.has({ result: text });
  }),

  test('an empty text differs from no text (L-56)', async (c) => {
    await c.store.inserted(running());
    await c.store.written({ error: '', reason: '' });
    await c.store.has({ error: '', reason: '' });
    await c.store.completed('');
    await c.store.has({ result: '' });
  }),
]);
