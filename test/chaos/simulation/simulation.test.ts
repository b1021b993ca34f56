// More of this subject: chaos/history, faults/simulation, faults/campaign
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FATES, INCIDENTS } from './faults';
import { simulate } from './schedule';
import { checkedSchedule } from './search';
import { testBySeeds } from './search-test';

/** A schedule takes about 5 ms. */
testBySeeds({
  sizes: { fast: 1000, full: 20_000 },
  faults: [...FATES, ...INCIDENTS],
  schedule: (seed) => checkedSchedule(seed),
});

void test('the same seed gives the same history', async () => {
  const [first, second] = [await historyOf(7), await historyOf(7)];
  assert.deepEqual(first, second);
  assert.notDeepEqual(first, await historyOf(8));
});

/** Without the owners, which are random. */
async function historyOf(seed: number): Promise<unknown[]> {
  const { operations } = (await simulate(seed)).history;
  return operations.map(({ statement, host, name, order, invokedAtMs, outcome, answer }) => {
    return [
      statement,
      host,
      name,
      order,
      invokedAtMs,
      outcome,
      answer?.atMs,
      answer?.order,
      answer?.received,
    ];
  });
}
