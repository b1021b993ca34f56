import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Slice } from '../../bench/alternate';
import { figuresOf } from '../../bench/figures';

/** A slice of pairs that took so long, one after the other. */
const slice = (...latenciesMs: number[]): Slice => ({
  elapsedMs: latenciesMs.reduce((sum, latency) => sum + latency, 0),
  latenciesMs,
});

void suite('the figures of the bench', () => {
  void test('the ratio is the median of the ratios of the rounds, not the ratio of the medians', () => {
    const figures = figuresOf([
      { baseline: slice(1, 1), library: slice(2, 2) }, // 0.5
      { baseline: slice(10), library: slice(10) }, // 1: the machine was slow for both
      { baseline: slice(2, 2), library: slice(2.5, 2.5) }, // 0.8
    ]);
    assert.equal(figures.ratio, 0.8);
    assert.deepEqual([figures.lowerQuartile, figures.upperQuartile], [0.5, 1]);
  });

  void test('pairs a second are the median of the slices', () => {
    const { baseline, library } = figuresOf([
      { baseline: slice(1), library: slice(4) },
      { baseline: slice(2), library: slice(5) },
      { baseline: slice(100), library: slice(8) },
    ]);
    assert.deepEqual([baseline.pairsPerSecond, library.pairsPerSecond], [500, 200]);
  });

  void test('percentiles are those of all pairs together', () => {
    const quick = { baseline: slice(1, 1, 1), library: slice(1) };
    const slow = { baseline: slice(9), library: slice(1) };
    const { baseline } = figuresOf([quick, slow]);
    assert.deepEqual([baseline.p50Ms, baseline.p99Ms], [1, 9]);
  });
});
