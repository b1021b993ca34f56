import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { tallyOf } from '../../bench/midnight/tally';

const account = (ranAfterMs: Record<string, number>, failures: string[] = [], cpuMs = 50) => ({
  ...{ ranAfterMs, failures, endedAfterMs: 100, cpuMs },
});

void suite('what the processes of a midnight did together', () => {
  void test('all jobs have run when the last one ran for the first time', () => {
    const accounts = [account({ a: 10, c: 30 }, [], 40), account({ b: 20, c: 90 }, [], 60)];
    const tally = tallyOf(['a', 'b', 'c'], accounts);
    assert.equal(tally.allRanMs, 30);
    assert.equal(tally.allEndedMs, 100);
    assert.equal(tally.cpuMs, 50);
    assert.deepEqual([tally.fewest, tally.most], [2, 2]);
  });

  void test('a job that ran in two processes, and one that never ran, are counted', () => {
    const tally = tallyOf(['a', 'b'], [account({ a: 10 }), account({ a: 20 }, ['failed'])]);
    assert.equal(tally.allRanMs, undefined);
    assert.deepEqual([tally.never, tally.twice, tally.failures], [1, 1, ['failed']]);
  });

  void test('a night without jobs ends at once', () => {
    const { allRanMs, never, twice } = tallyOf([], [account({})]);
    assert.deepEqual([allRanMs, never, twice], [0, 0, 0]);
  });
});
