import type { DataSourceOptions } from 'typeorm';

/** What a worker is started with. */
export interface WorkerOrders {
  /** Of all that were ever started. */
  readonly worker: number;
  readonly options: DataSourceOptions;
  readonly witness: string;
  readonly journal: string;
  readonly seed: number;
  /** In the machine's time: the run that is due depends on it. */
  readonly startMs: number;
}

/** What a worker is told on its way. */
export type WorkerWord =
  | { readonly word: 'stall'; readonly ms: number; readonly id: number }
  /** Nothing is struck any more: what is left of the runs is to be completed, and then it ends. */
  | { readonly word: 'finish'; readonly keys: readonly string[] };

export type WorkerMessage =
  | { readonly event: 'ready' }
  /** Since the last one. */
  | { readonly event: 'progress'; readonly attempts: number; readonly grants: number }
  | { readonly event: 'stalled'; readonly id: number }
  | { readonly event: 'done' };

export const LOCK_NAMES = Array.from({ length: 40 }, (_, index) => `job-${index}`);
export const LEASES_MS = [2000, 3000] as const;
export const RUN_LEASE_MS = 2000;
/** How often a run becomes due. */
export const RUN_EVERY_MS = 400;
/** Of a worker, each with a job at a time. */
export const LOCK_LANES = 4;
export const RUN_LANES = 2;

/** Every second one is completed in the transaction of its effects. */
export function isTransactional(key: string): boolean {
  return Number(key.slice('run-'.length)) % 2 === 0;
}

export function keyOf(index: number): string {
  return `run-${index}`;
}
