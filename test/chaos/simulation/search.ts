import { checkHistory } from '../history/check-history';
import type { FaultKind } from './faults';
import { simulate, type Breakage } from './schedule';

/** One schedule, and the checker's findings about its history. */
export interface CheckedSchedule {
  readonly violations: readonly string[];
  readonly steps: number;
  /** The number of attempts to take locks, or of attempts of runs. */
  readonly attempts: number;
  readonly faults: ReadonlyMap<FaultKind, number>;
}

export interface Search {
  /** The first seed whose history breaks a promise, with the violations. */
  readonly found: { readonly seed: number; readonly violations: readonly string[] } | undefined;
  readonly schedules: number;
  readonly steps: number;
  readonly attempts: number;
  readonly faults: ReadonlyMap<FaultKind, number>;
}

/** Checks a schedule of locks. */
export async function checkedSchedule(seed: number, breakage: Breakage = {}): Promise<CheckedSchedule> {
  const { history, steps, faults } = await simulate(seed, breakage);
  return { violations: checkHistory(history), steps, attempts: history.attempts.length, faults };
}

/** Simulates one seed after the other, until the checker finds a violation. */
export async function search(
  { from, most }: { readonly from: number; readonly most: number },
  schedule: (seed: number) => Promise<CheckedSchedule>,
): Promise<Search> {
  const faults = new Map<FaultKind, number>();
  let [schedules, steps, attempts] = [0, 0, 0];
  while (schedules < most) {
    const seed = from + schedules;
    const checked = await schedule(seed);
    const { violations } = checked;
    schedules += 1;
    steps += checked.steps;
    attempts += checked.attempts;
    for (const [kind, count] of checked.faults) faults.set(kind, (faults.get(kind) ?? 0) + count);
    if (violations.length > 0) return { found: { seed, violations }, schedules, steps, attempts, faults };
  }
  return { found: undefined, schedules, steps, attempts, faults };
}
