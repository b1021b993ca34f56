import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { alternate, type Round } from '../../bench/alternate';
import type { Contender } from '../../bench/contender';

/** A contender that reports when its turn begins. */
function contender(name: string, turns: string[]): Contender {
  return {
    pair() {
      if (turns.at(-1) !== name) turns.push(name);
      return Promise.resolve();
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

void suite('the slices of the bench', () => {
  void test('both are warmed up, then take turns, and who begins alternates', async () => {
    const turns: string[] = [];
    const seen: number[] = [];
    const rounds = await alternate({
      baseline: contender('baseline', turns),
      library: contender('library', turns),
      rounds: 3,
      sliceMs: 1,
      onRound: (done: readonly Round[]) => void seen.push(done.length),
    });
    // Warm-up; baseline first; library first, which goes on; baseline first, which goes on.
    assert.deepEqual(turns, ['baseline', 'library', 'baseline', 'library', 'baseline', 'library']);
    assert.equal(rounds.length, 3);
    assert.deepEqual(seen, [1, 2, 3]);
  });

  void test('a slice lasts as long as it is to, and has a latency for each of its pairs', async () => {
    const [round] = await alternate({
      baseline: contender('baseline', []),
      library: contender('library', []),
      rounds: 1,
      sliceMs: 5,
      onRound: () => {},
    });
    assert.ok(round !== undefined);
    for (const { elapsedMs, latenciesMs } of [round.baseline, round.library]) {
      const inPairsMs = latenciesMs.reduce((sum, latencyMs) => sum + latencyMs, 0);
      assert.ok(elapsedMs >= 5);
      assert.ok(Math.abs(inPairsMs - elapsedMs) < 1e-6);
    }
  });

  void test('a pair that fails ends the measurement', async () => {
    const failing = { ...contender('library', []), pair: () => Promise.reject(new Error('skipped')) };
    const contest = { baseline: contender('baseline', []), library: failing, rounds: 1, sliceMs: 1 };
    await assert.rejects(alternate({ ...contest, onRound: () => {} }), /skipped/);
  });
});
