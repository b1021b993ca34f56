import assert from 'node:assert/strict';
import { test } from 'node:test';
import { search } from '../../chaos/simulation/search';
import { checkedLedgerSchedule } from '../../chaos/simulation/ledger/checked-ledger-schedule';
import { PLANTED_LEDGER_BUGS } from '../../chaos/simulation/ledger/planted-ledger-bugs';

/**
 * Counted from the recorded seed, because a change of the simulation gives every seed another meaning and
 * must not fail the test.
 */
const MOST_SCHEDULES = 1000;

for (const { does, seed, ...breakage } of PLANTED_LEDGER_BUGS) {
  void test(`a ledger that ${does} is caught, by seed ${seed}`, async (t) => {
    const { found, schedules } = await search({ from: seed, most: MOST_SCHEDULES }, (each) =>
      checkedLedgerSchedule(each, breakage),
    );
    assert.ok(found, `not caught in ${schedules} schedules`);
    t.diagnostic(`by seed ${found.seed}: ${found.violations[0]}`);
  });
}
