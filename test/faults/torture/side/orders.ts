import type { DataSourceOptions } from 'typeorm';
import type { Row } from '../rows';
import type { SideName } from '../slots';

/** What an instance is told when it is started. */
export interface InstanceOrders {
  readonly row: Row;
  readonly side: SideName;
  /** What the job is called. */
  readonly job: string;
  readonly instance: 'a' | 'b';
  readonly options: DataSourceOptions;
  readonly redisUrl: string;
}

/** What it is told later. */
export type InstanceWord =
  | { readonly word: 'start'; readonly slots: readonly number[] }
  | { readonly word: 'stop' }
  | { readonly word: 'resume' }
  | { readonly word: 'execute' };

/** What it tells. `atMs` is the machine's time, the same in all processes. */
export type InstanceMessage =
  | { readonly event: 'ready' }
  /** node-cron has begun with a fire, and waits for its random delay, if it has one. */
  | { readonly event: 'fired'; readonly slotMs: number }
  | { readonly event: 'begin'; readonly run: number; readonly slotMs: number; readonly atMs: number }
  | { readonly event: 'end'; readonly run: number; readonly isCompleted: boolean; readonly atMs: number };
