import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { judge } from '../../bench/contest/goals';

const figures = (lowerQuartile: number, ratio: number, upperQuartile: number) => ({
  ...{ lowerQuartile, ratio, upperQuartile },
});
const goal = { ratio: 0.9 };

void suite('the verdict of the bench', () => {
  void test('a goal is reached by the median of the rounds', () => {
    assert.equal(judge(figures(0.89, 0.9, 0.93), goal), 'reached');
    assert.equal(judge(figures(0.85, 0.899, 0.91), goal), 'below the goal');
  });

  void test('rounds that lie far apart prove nothing, even if their median looks good', () => {
    assert.equal(judge(figures(0.6, 1.07, 1.8), goal), 'unsettled');
    assert.equal(judge(figures(0.3, 0.5, 0.7), goal), 'unsettled');
  });

  void test('a row without a goal has no verdict, unless its rounds lie far apart', () => {
    assert.equal(judge(figures(0.89, 0.9, 0.93), undefined), undefined);
    assert.equal(judge(figures(0.3, 0.5, 0.7), undefined), 'unsettled');
    assert.equal(judge(figures(NaN, NaN, NaN), goal), 'unsettled');
  });
});
