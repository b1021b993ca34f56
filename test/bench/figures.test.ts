import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Slice } from '../../bench/contest/alternate';
import { figuresOf } from '../../bench/contest/figures';

/** A slice of calls that took so long, one after the other. */
const slice = (...latenciesMs: number[]): Slice => ({
  elapsedMs: latenciesMs.reduce((sum, latency) => sum + latency, 0),
  latenciesMs,
});

void suite('the figures of the bench', () => {
  void test('the ratio is the median of the ratios of the rounds, not the ratio of the medians', () => {
    const rounds = [
      [slice(1, 1), slice(2, 2)], // 0.5
      [slice(10), slice(10)], // 1: the machine was slow for both
      [slice(2, 2), slice(2.5, 2.5)], // 0.8
    ];
    const figures = figuresOf(rounds, 1);
    assert.equal(figures.ratio, 0.8);
    assert.deepEqual([figures.lowerQuartile, figures.upperQuartile], [0.5, 1]);
  });

  void test('calls per second are the median of the slices', () => {
    const rounds = [
      [slice(1), slice(4)],
      [slice(2), slice(5)],
      [slice(100), slice(8)],
    ];
    assert.deepEqual([figuresOf(rounds, 0).perSecond, figuresOf(rounds, 1).perSecond], [500, 200]);
  });

  void test('percentiles are those of all calls together', () => {
    const { p50Ms, p99Ms } = figuresOf([[slice(1, 1, 1)], [slice(9)]], 0);
    assert.deepEqual([p50Ms, p99Ms], [1, 9]);
  });
});
