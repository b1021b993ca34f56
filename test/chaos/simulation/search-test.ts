import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleSize } from '../../support/checks/sample-size';
import type { FaultKind } from './faults';
import { givenSeeds } from './given-seeds';
import { search, type CheckedSchedule } from './search';

export interface SearchTest {
  /** How many schedules run, unless `CRONLATCH_SEED` is set. */
  readonly sizes: { readonly fast: number; readonly full: number };
  /** Faults that must have happened in so many schedules. */
  readonly faults: readonly FaultKind[];
  readonly schedule: (seed: number) => Promise<CheckedSchedule>;
}

/** A test that simulates one seed after the other, and reports figures. */
export function testBySeeds({ sizes, faults: expected, schedule }: SearchTest): void {
  const usual = { from: 1, most: sampleSize(sizes) };
  const { from, most } = givenSeeds() ?? usual;
  void test(`simulated schedules of ${most} seeds, from ${from}, keep all promises`, async (t) => {
    const { found, schedules, steps, attempts, faults } = await search({ from, most }, schedule);
    t.diagnostic(`${schedules} schedules, ${steps} steps, ${attempts} attempts`);
    t.diagnostic([...faults].map(([kind, count]) => `${kind}: ${count}`).join(', '));
    const { seed, violations } = found ?? {};
    assert.equal(seed, undefined, `To repeat it: CRONLATCH_SEED=${seed}\n${violations?.join('\n')}`);
    if (most < usual.most) return;
    assert.deepEqual(
      expected.filter((kind) => !faults.has(kind)),
      [],
      'faults that never happened',
    );
  });
}
