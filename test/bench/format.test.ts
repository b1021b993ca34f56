import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { columns, milliseconds, rate, ratio } from '../../bench/report/format';

void suite('the numbers of the bench, written', () => {
  void test('a ratio just below a goal is not rounded up to it', () => {
    assert.equal(ratio(0.8999), '0.899');
    assert.equal(ratio(0.9), '0.900');
    assert.equal(ratio(1.0361), '1.036');
  });

  void test('milliseconds have as many digits as mean something', () => {
    assert.deepEqual([0.5084, 1.234, 250.4].map(milliseconds), ['0.508 ms', '1.23 ms', '250 ms']);
  });

  void test('a rate is a whole number', () => {
    assert.equal(rate(1804.6), '1805/s');
  });

  void test('columns stand under one another, texts to the left and the numbers between to the right', () => {
    assert.deepEqual(
      columns([
        ['', 'pairs', 'goal'],
        ['baseline', '1/s', ''],
        ['library', '10000/s', '0.9'],
      ]),
      ['            pairs  goal', 'baseline      1/s', 'library   10000/s  0.9'],
    );
  });
});
