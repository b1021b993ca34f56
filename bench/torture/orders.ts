import type { DataSourceOptions } from 'typeorm';
import type { Row } from './rows';
import type { SideName } from './slots';

/** The arguments of an instance. */
export interface InstanceOrders {
  readonly row: Row;
  readonly side: SideName;
  /** The name of the job. */
  readonly job: string;
  readonly instance: 'a' | 'b';
  readonly options: DataSourceOptions;
  readonly redisUrl: string;
}

/** A command to a running instance. */
export type InstanceCommand =
  | { readonly word: 'start'; readonly slots: readonly number[] }
  | { readonly word: 'stop' }
  | { readonly word: 'resume' }
  | { readonly word: 'execute' };

/** A report. `atMs` is the machine's time, the same in all processes. */
export type InstanceMessage =
  | { readonly event: 'ready' }
  /** node-cron has started a fire, and waits for its random delay, if any. */
  | { readonly event: 'fired'; readonly slotMs: number }
  | { readonly event: 'begin'; readonly run: number; readonly slotMs: number; readonly atMs: number }
  | { readonly event: 'end'; readonly run: number; readonly isCompleted: boolean; readonly atMs: number };
