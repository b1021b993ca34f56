import type { DataSourceOptions } from 'typeorm';
import type { Keeper, LockServer } from '../options';

/** The arguments of a worker. */
export interface WorkerOrders {
  /** Unique among all workers of the campaign. */
  readonly worker: number;
  readonly options: DataSourceOptions;
  readonly keeper: Keeper;
  /** Where the locks are, if they are not in the database. */
  readonly locks?: LockOrders | undefined;
  readonly witness: string;
  readonly journal: string;
  readonly seed: number;
  /** In the machine's time: it decides which run is due. */
  readonly startMs: number;
}

/** How a worker reaches the servers that keep the locks. */
export interface LockOrders {
  readonly server: LockServer;
  /** The proxies and the servers behind them, in the same order. */
  readonly ports: readonly number[];
  readonly urls: readonly string[];
  /** Of the sentinels, which are reached directly. */
  readonly sentinels: readonly string[];
  /** Only locks that a replica has confirmed count as granted. */
  readonly wait: boolean;
}

/** A message to a running worker. */
export type WorkerCommand =
  | { readonly word: 'stall'; readonly ms: number; readonly id: number }
  /** The faults have ended: the worker completes the remaining runs, and ends. */
  | { readonly word: 'finish'; readonly keys: readonly string[] };

export type WorkerMessage =
  | { readonly event: 'ready' }
  /** Since the last message. */
  | { readonly event: 'progress'; readonly attempts: number; readonly grants: number }
  | { readonly event: 'stalled'; readonly id: number }
  | { readonly event: 'done' };

export const LOCK_NAMES = Array.from({ length: 40 }, (_, index) => `job-${index}`);
export const LEASES_MS = [2000, 3000] as const;
export const RUN_LEASE_MS = 2000;
/** The interval between runs. */
export const RUN_EVERY_MS = 400;
/** Per worker, each with one job at a time. */
export const LOCK_LANES = 4;
export const RUN_LANES = 2;

/** Every second run is completed in the transaction of its effects. */
export function isTransactional(key: string): boolean {
  return Number(key.slice('run-'.length)) % 2 === 0;
}

export function keyOf(index: number): string {
  return `run-${index}`;
}
