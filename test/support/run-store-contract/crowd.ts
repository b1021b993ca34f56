import assert from 'node:assert/strict';
import type { FoundRun } from '#cronlatch/ledger/run-store';
import { cases } from './fixture';
import { CLAIM, LOST, PENDING, keyOf, running } from './runs';
import { retryContention, runConcurrently } from './tested-store';

/** Many instances that write at the same moment. */
export const crowd = cases((test) => [
  test('50 simultaneous changes lose no update (L3)', async (c) => {
    await c.store.inserted(PENDING);
    await runConcurrently(c, 50, (at) => at.written(nextAttempt));
    await c.store.has({ attempt: 50 });
  }),

  test('of 32 simultaneous claims of a pending run, one wins (L-01)', async (c) => {
    await c.store.inserted(PENDING);
    const won = await runConcurrently(c, 32, (at, i) => at.change((row) => claimed(row, `host/1/${i}`)));
    assert.equal(won.filter(Boolean).length, 1);
    await c.other.has({ claimedBy: `host/1/${won.indexOf(true)}`, attempt: 1 });
  }),

  test('simultaneous changes of ten runs each change their own run (L3)', async (c) => {
    const keys = Array.from({ length: 10 }, (_, i) => keyOf(`period-${i}`));
    await c.store.inserted(...keys.map((key) => ({ ...PENDING, ...key })));
    await runConcurrently(c, 40, (at, i) =>
      at.written(({ run }) => ({ attempt: run.attempt + 1 + (i % 10) }), { key: keyOf(`period-${i % 10}`) }),
    );
    for (const [i, key] of keys.entries()) await c.other.has({ attempt: 4 * (i + 1) }, key);
  }),

  test('a decision gets the last committed row, regardless of which instance wrote it (L3)', async (c) => {
    await c.store.inserted(PENDING);
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const at = attempt % 2 ? c.store : c.other;
      assert.equal((await at.written(nextAttempt)).attempt, attempt + 1);
    }
  }),

  test('the events of simultaneous changes are all kept (L-52)', async (c) => {
    await c.store.inserted(PENDING);
    await runConcurrently(c, 20, (at, i) =>
      at.change(() => ({ value: i, events: [{ ...LOST, detail: `${i}` }] })),
    );
    const details = (await c.store.events()).map(({ detail }) => Number(detail)).sort((a, b) => a - b);
    assert.deepEqual(details, [...Array(20).keys()]);
  }),

  test('of 20 simultaneous completions of a run, one succeeds (L-21)', async (c) => {
    await c.store.inserted(running());
    const done = await runConcurrently(c, 20, (at, i) => at.complete(CLAIM, `${i}`));
    assert.equal(done.filter(Boolean).length, 1);
    await c.store.has({ result: `${done.indexOf(true)}` });
  }),

  test('a simultaneous completion and change do not overwrite each other (L-21)', async (c) => {
    for (let round = 0; round < 10; round += 1) {
      const key = keyOf(`period-${round}`);
      await c.store.inserted({ ...running(), ...key });
      const complete = () => c.store.complete({ ...CLAIM, ...key }, 'done');
      const takeOver = () => c.other.change(takenOver, key);
      const acts = round % 2 ? [complete, takeOver] : [takeOver, complete];
      const [first, second] = await Promise.all(acts.map(retryContention));
      const completed = round % 2 ? first : second;
      assert.notEqual(first, second, 'one of the two, not both');
      await c.store.has({ state: completed ? 'completed' : 'interrupted' }, key);
    }
  }),
]);

function nextAttempt({ run }: FoundRun) {
  return { attempt: run.attempt + 1 };
}

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
