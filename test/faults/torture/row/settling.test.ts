import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Run } from '../judge/story';
import { CALM_MS, isSettled, QUIET_MS } from './settling';

const OVER_MS = 20_000;
const run = (slotMs: number, endedMs: number, ending: Run['ending'] = 'completed'): Run => ({
  ...{ slotMs, endedMs, ending, instance: 'a' },
  beganMs: slotMs,
});
const settles = (runs: Run[], atMs: number): boolean =>
  !isSettled({ slots: [1000, 2000], runs, strikes: [] }, atMs, OVER_MS) &&
  isSettled({ slots: [1000, 2000], runs, strikes: [] }, atMs + 1, OVER_MS);

void test('if every fire has run, a row settles soon after the last one could come', () => {
  assert.ok(settles([run(1000, 1001), run(2000, 2001)], OVER_MS + CALM_MS));
  assert.ok(settles([run(1000, 1001), run(2000, 30_000)], 30_000 + CALM_MS));
});

void test('if a fire is missing, the row waits for it', () => {
  assert.ok(settles([run(1000, 1001)], OVER_MS + QUIET_MS));
  assert.ok(settles([run(1000, 1001), run(2000, 25_000, 'crashed')], 25_000 + QUIET_MS));
});

void test('a row with an unfinished run has not settled', () => {
  const runs = [run(1000, 1001), run(2000, 2001), run(2000, Infinity, 'going-on')];
  assert.equal(isSettled({ slots: [1000, 2000], runs, strikes: [] }, 1e9, OVER_MS), false);
});
