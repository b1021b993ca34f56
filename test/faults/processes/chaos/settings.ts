import type { JobConfiguration } from 'cronlatch';
import type { DataSourceOptions } from 'typeorm';

export const WORKERS = 3;
export const LOCK_AT_MOST_FOR_MS = 1000;
/** How many runs a worker executes at once. */
export const LANES = 5;
/** The longest pause of a job inside its transaction, before and after its effects. */
export const LONGEST_PAUSE_MS = 150;

/** The jobs of the test, with one run each that is retried until it is completed. */
export function chaosJob(index: number): JobConfiguration {
  return {
    name: `job-${index}`,
    lockAtMostFor: LOCK_AT_MOST_FOR_MS,
    oncePer: { period: () => `run-${index}`, timeZone: 'UTC', retry: { maxAttempts: 100, initialDelay: 0 } },
  };
}

export interface ChaosOrders {
  readonly options: DataSourceOptions;
  readonly runs: number;
}

export type ChaosMessage =
  | { readonly event: 'ready' }
  /** Inside its transaction; `number` counts the runs of this worker. */
  | { readonly event: 'begun'; readonly number: number }
  | { readonly event: 'done'; readonly failures: Readonly<Record<string, number>> };
