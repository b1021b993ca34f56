import assert from 'node:assert/strict';
import type { FoundRun } from '../../ledger/run-store';
import { cases } from './fixture';
import { runConcurrently, retryContention } from './assertions';
import { CLAIM, KEY, LIMIT, LOST, PENDING, inserted, keyOf, runOf, running, written } from './runs';

/** Many instances that write at the same moment. */
export const crowd = cases({
  async '50 simultaneous changes lose no update (L3)'({ store, other }) {
    await inserted(store, PENDING);
    await runConcurrently(50, [store, other], (at) =>
      written(at, ({ run }) => ({ attempt: run.attempt + 1 })),
    );
    assert.equal((await runOf(store)).attempt, 50);
  },

  async 'of 32 simultaneous claims of a pending run, one wins (L-01)'({ store, other }) {
    await inserted(store, PENDING);
    const won = await runConcurrently(32, [store, other], (at, i) =>
      at.change(KEY, (row) => claimed(row, `host/1/${i}`), LIMIT),
    );
    assert.equal(won.filter(Boolean).length, 1);
    const { claimedBy, attempt } = await runOf(other);
    assert.deepEqual({ claimedBy, attempt }, { claimedBy: `host/1/${won.indexOf(true)}`, attempt: 1 });
  },

  async 'simultaneous changes of ten runs each change their own run (L3)'({ store, other }) {
    const keys = Array.from({ length: 10 }, (_, i) => keyOf(`period-${i}`));
    await inserted(store, ...keys.map((key) => ({ ...PENDING, ...key })));
    await runConcurrently(40, [store, other], (at, i) =>
      written(at, ({ run }) => ({ attempt: run.attempt + 1 + (i % 10) }), { key: keyOf(`period-${i % 10}`) }),
    );
    for (const [i, key] of keys.entries()) assert.equal((await runOf(other, key)).attempt, 4 * (i + 1));
  },

  async 'a decision gets the last committed row, regardless of which instance wrote it (L3)'(fixture) {
    const { store, other } = fixture;
    await inserted(store, PENDING);
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const at = attempt % 2 ? store : other;
      assert.equal((await written(at, ({ run }) => ({ attempt: run.attempt + 1 }))).attempt, attempt + 1);
    }
  },

  async 'the events of simultaneous changes are all kept (L-52)'({ store, other }) {
    await inserted(store, PENDING);
    await runConcurrently(20, [store, other], (at, i) =>
      at.change(KEY, () => ({ value: i, events: [{ ...LOST, detail: `${i}` }] }), LIMIT),
    );
    const details = (await store.events(KEY, LIMIT)).map(({ detail }) => Number(detail));
    assert.deepEqual(
      details.sort((a, b) => a - b),
      [...Array(20).keys()],
    );
  },

  async 'of 20 simultaneous completions of a run, one succeeds (L-21)'({ store, other }) {
    await inserted(store, running());
    const done = await runConcurrently(20, [store, other], (at, i) => at.complete(CLAIM, `${i}`, LIMIT));
    assert.equal(done.filter(Boolean).length, 1);
    assert.equal((await runOf(store)).result, `${done.indexOf(true)}`);
  },

  async 'a simultaneous completion and change do not overwrite each other (L-21)'({ store, other }) {
    for (let round = 0; round < 10; round += 1) {
      const key = keyOf(`period-${round}`);
      await inserted(store, { ...running(), ...key });
      const complete = () => store.complete({ ...CLAIM, ...key }, 'done', LIMIT);
      const takeOver = () => other.change(key, takenOver, LIMIT);
      const acts = round % 2 ? [complete, takeOver] : [takeOver, complete];
      const [first, second] = await Promise.all(acts.map(retryContention));
      const completed = round % 2 ? first : second;
      assert.notEqual(first, second, 'one of the two, not both');
      assert.equal((await runOf(store, key)).state, completed ? 'completed' : 'interrupted');
    }
  },
});

function claimed(row: FoundRun | undefined, claimedBy: string) {
  if (row?.run.state !== 'pending') return { value: false };
  const { run, now } = row;
  const started = { startedAt: now, firstStartedAt: now, nextAttemptAt: undefined };
  return { value: true, write: { ...run, ...started, state: 'running', attempt: 1, claimedBy } } as const;
}

function takenOver(row: FoundRun | undefined) {
  if (row?.run.state !== 'running') return { value: false };
  return { value: true, write: { ...row.run, state: 'interrupted' } } as const;
}
