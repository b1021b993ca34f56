import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { alternate, type Round } from '../../bench/contest/alternate';
import type { Contender } from '../../bench/contest/contender';

/** A contender that reports when its turn begins. */
function contender(name: string, turns: string[]): Contender {
  return {
    perform() {
      if (turns.at(-1) !== name) turns.push(name);
      return Promise.resolve();
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

const turns = { workers: 1, rounds: 1, sliceMs: 1, warmUpMs: 1, onRound: () => {} };

void suite('the slices of the bench', () => {
  void test('all are warmed up, then take turns, and who begins alternates', async () => {
    const seen: string[] = [];
    const rounds: number[] = [];
    const done = await alternate(
      ['a', 'b', 'c'].map((name) => contender(name, seen)),
      {
        ...turns,
        rounds: 3,
        onRound: (soFar: readonly Round[]) => void rounds.push(soFar.length),
      },
    );
    // Warm-up; a first; b first; c first, after an a that ended the round before.
    assert.deepEqual(seen.join(''), 'abc' + 'abc' + 'bca' + 'cab');
    assert.deepEqual(
      done.map((round) => round.length),
      [3, 3, 3],
    );
    assert.deepEqual(rounds, [1, 2, 3]);
  });

  void test('a slice lasts as long as it is to, and has a latency for each of its calls', async () => {
    const [round = []] = await alternate([contender('a', []), contender('b', [])], { ...turns, sliceMs: 5 });
    assert.equal(round.length, 2);
    for (const { elapsedMs, latenciesMs } of round) {
      const inCallsMs = latenciesMs.reduce((sum, latencyMs) => sum + latencyMs, 0);
      assert.ok(elapsedMs >= 5);
      assert.ok(inCallsMs <= elapsedMs);
    }
  });

  void test('each worker calls again when its own call has ended', async () => {
    const calls = [0, 0];
    const crowd: Contender = {
      ...contender('a', []),
      async perform(worker) {
        calls[worker] = (calls[worker] ?? 0) + 1;
        await new Promise(setImmediate);
      },
    };
    const [round = []] = await alternate([crowd], { ...turns, workers: 2, warmUpMs: 0 });
    assert.ok(calls.every((number) => number > 0));
    // Each has also called once to warm up.
    assert.equal(round[0]?.latenciesMs.length, (calls[0] ?? 0) + (calls[1] ?? 0) - 2);
  });

  void test('a call that fails ends the measurement after the calls of the other workers', async () => {
    let running = 0;
    const failing: Contender = {
      ...contender('a', []),
      async perform(worker) {
        running += 1;
        await new Promise(setImmediate);
        running -= 1;
        if (worker === 1) throw new Error('skipped');
      },
    };
    await assert.rejects(alternate([failing], { ...turns, workers: 3 }), /skipped/);
    assert.equal(running, 0);
  });
});
