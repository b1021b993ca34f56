import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { judge } from '../../bench/goals';

const absolutes = { pairsPerSecond: 1000, p50Ms: 1, p99Ms: 2 };
const figures = (lowerQuartile: number, ratio: number, upperQuartile: number) => ({
  ...{ baseline: absolutes, library: absolutes },
  ...{ lowerQuartile, ratio, upperQuartile },
});
const goal = { ratio: 0.9, later: '' };

void suite('the verdict of the bench', () => {
  void test('a goal is reached by the median of the rounds', () => {
    assert.equal(judge(figures(0.89, 0.9, 0.93), goal), 'reached');
    assert.equal(judge(figures(0.85, 0.899, 0.91), goal), 'below the goal');
  });

  void test('rounds that lie far apart prove nothing, even if their median looks good', () => {
    assert.equal(judge(figures(0.6, 1.07, 1.8), goal), 'unsettled');
    assert.equal(judge(figures(0.3, 0.5, 0.7), goal), 'unsettled');
  });
});
