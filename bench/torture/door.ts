import type { ScheduledTask } from 'node-cron';
import type { InstanceOrders } from './orders';

interface Call {
  /** The fire for which it runs. */
  readonly slotMs: number;
  /** Aborts if the run must not continue, if the side detects that. */
  readonly signal?: AbortSignal;
}

export type Job = (call: Call) => Promise<void>;

/** Connects, and returns a function that schedules the job. */
export type Door = (orders: InstanceOrders, job: Job) => Promise<() => ScheduledTask>;
