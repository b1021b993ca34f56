import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { median, percentile } from '../../bench/contest/statistics';

void suite('the statistics of the bench', () => {
  void test('the median is the middle value in any order', () => {
    assert.equal(median([9, 1, 100]), 9);
    assert.equal(median([7]), 7);
  });

  void test('the median of an even number of values lies between the two in the middle', () => {
    assert.equal(median([10, 2, 1, 4]), 3);
  });

  void test('a percentile is the smallest value that so many do not exceed', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
    assert.equal(percentile(hundred, 0.5), 50);
    assert.equal(percentile(hundred, 0.99), 99);
    assert.equal(percentile(hundred, 1), 100);
    assert.equal(percentile([3, 1, 2], 0.99), 3);
    assert.equal(percentile([3, 1, 2], 0), 1);
  });

  void test('values are compared as numbers, and stay in their order for the caller', () => {
    const values = [10, 9, 1];
    assert.equal(percentile(values, 1), 10);
    assert.deepEqual(values, [10, 9, 1]);
  });

  void test('nothing has neither a median nor a percentile', () => {
    assert.ok(Number.isNaN(median([])));
    assert.ok(Number.isNaN(percentile([], 0.5)));
  });
});
