import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FATES, INCIDENTS, LEDGER_INCIDENTS } from '../faults';
import { testBySeeds } from '../search-test';
import { checkedLedgerSchedule } from './checked-ledger-schedule';
import { simulateLedger } from './ledger-schedule';

/** A schedule takes about 30 ms. */
testBySeeds({
  sizes: { fast: 200, full: 10_000 },
  faults: [...FATES, ...INCIDENTS, ...LEDGER_INCIDENTS],
  schedule: (seed) => checkedLedgerSchedule(seed),
});

void test('the same seed gives the same history of runs', async () => {
  const [first, second] = [await historyOf(7), await historyOf(7)];
  assert.deepEqual(first, second);
  assert.notDeepEqual(first, await historyOf(8));
});

/** Without the claims, which are random. */
async function historyOf(seed: number): Promise<unknown[]> {
  const { changes } = (await simulateLedger(seed)).ledger;
  return changes.map(({ key, atMs, order, by, after }) => {
    return [key, atMs, order, by?.host, by?.statement, by?.outcome, after?.state, after?.attempt];
  });
}
