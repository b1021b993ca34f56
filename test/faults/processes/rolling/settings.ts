import type { DataSourceOptions } from 'typeorm';

export const WORKERS = 8;
export const JOBS = ['close-day', 'send-invoices'] as const;
/** Each worker asks for each lock as often as that. */
export const TICK_MS = 250;
/** Shorter than some runs are: those need their lease renewed. */
export const LOCK_AT_MOST_FOR_MS = 2000;
export const SHORTEST_RUN_MS = 50;
export const LONGEST_RUN_MS = 400;
/** One run in so many outlasts its first lease. */
export const ONE_LONG_RUN_IN = 40;
export const LONG_RUN_MS = 3000;

export interface DeployOrders {
  readonly options: DataSourceOptions;
}

/** What a worker witnessed, in the machine's time. */
export type DeployMessage =
  | { readonly event: 'ready' }
  | { readonly event: 'enter'; readonly job: string; readonly token: number; readonly atMs: number }
  | {
      readonly event: 'leave';
      readonly job: string;
      readonly token: number;
      readonly atMs: number;
      /** Whether the row said, as the last thing in the run, that this very grant holds the lock. */
      readonly held: boolean;
    };
