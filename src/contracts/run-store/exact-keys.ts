import assert from 'node:assert/strict';
import type { Run, RunKey } from '../../ledger/run';
import type { RunStore } from '../../ledger/run-store';
import { INJECTED_NAMES, TRICKY_NAMES, randomName } from '../names';
import { type RunStoreBasics, cases } from './fixture';
import {
  CLAIM,
  JOB,
  LIMIT,
  PENDING,
  SKIPPED,
  foundBy,
  inserted,
  keyOf,
  periodKeysOf,
  refused,
  runOf,
  running,
  textOf,
  written,
} from './runs';

type Instances = Pick<RunStoreBasics, 'store' | 'other'>;

/** Includes keys that no job name may have, because a custom key function may return them. */
const DECOMPOSED = TRICKY_NAMES.map((name) => name.normalize('NFD'));
const ALIKE = [...new Set([...TRICKY_NAMES, ...DECOMPOSED])];

/**
 * A key is compared byte for byte: never truncated, never confused with another, never run as part of a
 * statement.
 */
export const exactKeys = cases({
  async 'job, scope and period each distinguish runs (L1)'({ store, other }) {
    const keys = [
      ...[keyOf('a'), keyOf('a', { scope: 'a' }), keyOf('a', { job: 'a' })],
      ...[keyOf('', { scope: 'a' }), keyOf('', { job: 'a' })],
      ...[keyOf('b', { scope: 'a' }), keyOf('a', { scope: 'b' }), keyOf('aa', { job: 'a' })],
    ];
    await areIndependent({ store, other }, keys);
  },

  async 'periods that look or sort alike are separate runs (L-57)'(instances) {
    const keys = ALIKE.map((name) => keyOf(name));
    await areIndependent(instances, keys);
  },

  async 'scopes that look or sort alike have separate runs (L-57)'(instances) {
    const keys = ALIKE.map((scope) => keyOf('day', { scope }));
    await areIndependent(instances, keys);
  },

  async 'jobs that look or sort alike have separate runs (L-57)'({ store, other }) {
    const keys = ALIKE.map((job) => keyOf('day', { job }));
    await areIndependent({ store, other }, keys);
    for (const { job } of keys) {
      const { runs } = await other.peek({ job, scope: '', periodKey: undefined, since: undefined }, LIMIT);
      const jobs = runs.map((run) => run.job);
      assert.deepEqual(jobs, [job]);
    }
  },

  async 'keys with SQL or template syntax are ordinary keys (L-57)'(instances) {
    assert.ok(INJECTED_NAMES.length >= 300);
    const keys = INJECTED_NAMES.map((name, i) => keyOf(name, i % 2 ? { scope: name } : { job: name }));
    await areIndependent(instances, keys);
  },

  async 'random keys are separate runs (L-57)'(instances, { random }) {
    const keys = Array.from({ length: 100 }, () => {
      const [job, scope, periodKey] = [randomName(random), randomName(random), randomName(random)];
      return { job, scope, periodKey };
    });
    await areIndependent(instances, keys);
  },

  async '64 characters are kept exactly in every part of a key, also outside the basic plane (L-57)'(
    instances,
  ) {
    for (const character of ['x', '\u{1f512}']) {
      const [same, longest] = [character.repeat(63), character.repeat(64)];
      const keys = [longest, `${same}y`, same].flatMap((name) => [
        ...[keyOf(name), keyOf('day', { scope: name }), keyOf('day', { job: name })],
        { job: name, scope: name, periodKey: name },
      ]);
      await areIndependent(instances, keys);
    }
  },

  async 'a query for one key does not return another (L-57)'({ store, other }) {
    const names = ['job', 'Job', 'j_b', 'j%b', '%', 'jöb', 'jo\u0308b', "'", '*'];
    await inserted(store, ...names.map((name) => ({ ...SKIPPED, ...keyOf(name, { scope: name }) })));
    for (const name of names) {
      assert.deepEqual(await foundBy(other, { periodKey: name }), [name]);
      assert.deepEqual(await foundBy(other, { job: JOB, scope: name }), [name]);
      const { runs } = await other.peek({ ...keyOf(name, { scope: name }), since: undefined }, LIMIT);
      assert.deepEqual(periodKeysOf(runs), [name]);
    }
  },
});

/** Inserts each key with its own claim, and checks that the other instance finds that claim by the key. */
async function areIndependent({ store, other }: Instances, keys: readonly RunKey[]): Promise<void> {
  for (const key of keys) await inserted(store, { ...PENDING, ...key, reason: markOf(key, keys) });
  for (const key of keys) await isItself(other, key, markOf(key, keys));
  const [last] = keys.slice(-1);
  if (last !== undefined) await refused(other, { ...PENDING, ...last });
}

function markOf(key: RunKey, keys: readonly RunKey[]): string {
  return `the ${keys.indexOf(key)}th`;
}

async function isItself(store: RunStore, key: RunKey, mark: string): Promise<void> {
  const { job, scope, periodKey, reason } = await runOf(store, key);
  assert.deepEqual({ job, scope, periodKey }, key);
  assert.equal(reason, mark, `${textOf(key)} should have a row of its own`);
}

/** Texts of a run are read as they were written, up to the longest text that the ledger writes. */
export const exactTexts = cases({
  async 'the longest texts are returned whole, also four-byte characters (L-56)'({ store, other }) {
    await inserted(store, running());
    const of = (length: number): string => `${'\u{1f512}'.repeat(length - 1)}\u{1f510}`;
    const texts = { claimedBy: of(255), lockId: of(128), reason: of(32), error: of(2048) };
    await written(store, () => ({ ...texts, timeZone: undefined }));
    const { claimedBy, lockId, reason, error } = await runOf(other);
    assert.deepEqual({ claimedBy, lockId, reason, error }, texts);
    const result = `"${of(16 * 1024)}… [cut]"`;
    assert.equal(await other.complete({ ...CLAIM, claimedBy: of(255) }, result, LIMIT), true);
    assert.equal((await runOf(store)).result, result);
  },

  async 'texts with SQL or template syntax are returned unchanged (L-56)'({ store }) {
    await inserted(store, running());
    const text = `'"\\\`; -- $1 :name ? %s \${x} \\' \n\t\r\n {"a":"\\u0000"} '' \u2028`;
    const texts: Partial<Run> = { error: text, reason: text.slice(0, 32) };
    await written(store, () => texts);
    const { error, reason } = await runOf(store);
    assert.deepEqual({ error, reason }, texts);
    assert.equal(await store.complete(CLAIM, text, LIMIT), true);
    assert.equal((await runOf(store)).result, text);
  },

  async 'an empty text differs from no text (L-56)'({ store }) {
    await inserted(store, running());
    await written(store, () => ({ error: '', reason: '' }));
    const { error, reason } = await runOf(store);
    assert.deepEqual({ error, reason }, { error: '', reason: '' });
    assert.equal(await store.complete(CLAIM, '', LIMIT), true);
    assert.equal((await runOf(store)).result, '');
  },
});
