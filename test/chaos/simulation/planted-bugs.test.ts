import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PLANTED_BUGS } from './planted-bugs';
import { checkedSchedule, search } from './search';

/**
 * Counted from the recorded seed, because a change of the simulation gives every seed another meaning and
 * must not fail the test.
 */
const MOST_SCHEDULES = 6000;

for (const { does, seed, ...breakage } of PLANTED_BUGS) {
  void test(`a lock that ${does} is caught, by seed ${seed}`, async (t) => {
    const { found, schedules } = await search({ from: seed, most: MOST_SCHEDULES }, (each) =>
      checkedSchedule(each, breakage),
    );
    assert.ok(found, `not caught in ${schedules} schedules`);
    t.diagnostic(`by seed ${found.seed}: ${found.violations[0]}`);
  });
}
