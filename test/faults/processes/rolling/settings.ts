import type { DataSourceOptions } from 'typeorm';

export const WORKERS = 8;
export const JOBS = ['close-day', 'send-invoices'] as const;
/** How often each worker requests each lock. */
export const TICK_MS = 250;
/** Shorter than some runs: their lease must be renewed. */
export const LOCK_AT_MOST_FOR_MS = 2000;
export const SHORTEST_RUN_MS = 50;
export const LONGEST_RUN_MS = 400;
/** One run in so many outlasts its first lease. */
export const ONE_LONG_RUN_IN = 40;
export const LONG_RUN_MS = 3000;

export interface DeployOrders {
  readonly options: DataSourceOptions;
}

/** What a worker recorded, in the machine's time. */
export type DeployMessage =
  | { readonly event: 'ready' }
  | { readonly event: 'enter'; readonly job: string; readonly token: number; readonly atMs: number }
  | {
      readonly event: 'leave';
      readonly job: string;
      readonly token: number;
      readonly atMs: number;
      /** Whether the row had this grant as the holder, read at the very end of the run. */
      readonly held: boolean;
    };
