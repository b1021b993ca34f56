import { RunsAndActs } from '../stores/in-memory-acts';
import { guardBench, type GuardBench } from './guard';
import { newGuard, type GuardOptions } from './guard-with-runs';

export interface GuardOfRuns extends GuardBench {
  readonly runStore: RunsAndActs;
  /** For a second guard on the same stores. */
  readonly options: () => GuardOptions;
}

/**
 * A bench whose guard also has a run store, on the same clock, and checks for overdue runs when the test
 * asks.
 */
export function guardOfRuns(options: Partial<GuardOptions> = {}): GuardOfRuns {
  const bench = guardBench();
  const { provider: lockProvider, clock, events } = bench;
  const runStore = new RunsAndActs({ clock });
  const own = { lockProvider, runStore, clock, events, pollInterval: false, logger: false } as const;
  const all = { ...own, ...options };
  return { ...bench, runStore, guard: newGuard(all), options: () => all };
}

/** Once per day in Paris, under a lock. */
export const DAILY = {
  ...{ name: 'close-day', lockAtMostFor: '10m' },
  oncePer: { period: 'day', timeZone: 'Europe/Paris' },
} as const;

/** The same with one attempt. */
export const ONCE = { ...DAILY, oncePer: { ...DAILY.oncePer, retry: { maxAttempts: 1 } } } as const;

/** A run that fails permanently. */
export async function failOnce({ guard }: Pick<GuardOfRuns, 'guard'>, at?: Date): Promise<void> {
  await guard.run({ ...ONCE, at }, () => Promise.reject(new Error('no disk'))).catch(() => {});
}
