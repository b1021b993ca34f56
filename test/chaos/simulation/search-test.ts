import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleSize } from '../../support/checks/sample-size';
import type { FaultKind } from './faults';
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

/** From `CRONLATCH_SEED`: `7` for one schedule, `1..50000` for a range; `undefined` if it is not set. */
function givenSeeds(given = process.env.CRONLATCH_SEED): { from: number; most: number } | undefined {
  if (given === undefined) return undefined;
  const [, first, last = first] = /^(\d+)(?:\.\.(\d+))?$/.exec(given) ?? [];
  const [from, to] = [Number(first), Number(last)];
  if (from <= to) return { from, most: to - from + 1 };
  throw new RangeError(`CRONLATCH_SEED is '${given}': it must be a seed, like 7, or a range, like 1..50000.`);
}

/** A bug that a test plants, and the first seed that reveals it. */
interface Planted {
  readonly does: string;
  readonly seed: number;
}

/**
 * Tests that each bug is caught, counted from its recorded seed, because a change of the simulation gives every seed
 * another meaning and must not fail the test.
 */
export function testPlanted<Breakage extends object>(
  what: string,
  bugs: readonly (Planted & Breakage)[],
  most: number,
  schedule: (seed: number, breakage: Breakage) => Promise<CheckedSchedule>,
): void {
  for (const bug of bugs)
    void test(`a ${what} that ${bug.does} is caught, by seed ${bug.seed}`, async (t) => {
      const { found, schedules } = await search({ from: bug.seed, most }, (seed) => schedule(seed, bug));
      assert.ok(found, `not caught in ${schedules} schedules`);
      t.diagnostic(`by seed ${found.seed}: ${found.violations[0]}`);
    });
}
