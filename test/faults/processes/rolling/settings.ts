import type { DataSourceOptions } from 'typeorm';
import type { SessionZone } from '../../../processes/surroundings';

export const JOBS = ['close-day', 'send-invoices'] as const;
/** How often each worker requests each lock. */
export const TICK_MS = 250;
/** Longer than a busy machine holds up a process, and shorter than some runs: their lease must be renewed. */
export const LOCK_AT_MOST_FOR_MS = 8000;
/** Of the second job. Longer than most of its runs: afterwards only this holds the lock. */
export const LOCK_AT_LEAST_FOR_MS = 1000;
export const SHORTEST_RUN_MS = 50;
export const LONGEST_RUN_MS = 400;
/** One run in so many outlasts its first lease. */
export const ONE_LONG_RUN_IN = 60;
export const LONG_RUN_MS = 9000;

export interface DeployOrders {
  readonly options: DataSourceOptions;
  readonly sessionZone: SessionZone | undefined;
}

/** What a worker recorded, in the machine's time. */
export type DeployMessage =
  | { readonly event: 'ready'; readonly timeZone: string }
  /** A call of the guard that rejected. Only the storage may be the cause: the tick is skipped. */
  | { readonly event: 'failed'; readonly job: string; readonly isStorage: boolean; readonly text: string }
  | {
      readonly event: 'enter';
      readonly job: string;
      readonly token: number;
      readonly atMs: number;
      /** When the worker called its guard: before the lock was granted. */
      readonly requestedAtMs: number;
    }
  | {
      readonly event: 'leave';
      readonly job: string;
      readonly token: number;
      readonly atMs: number;
      /** Whether the row had this grant as the holder, read at the very end of the run. */
      readonly held: boolean;
    };
