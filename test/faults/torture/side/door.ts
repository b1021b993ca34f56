import type { ScheduledTask } from 'node-cron';
import type { InstanceOrders } from './orders';

interface Call {
  /** The fire that the run is for. */
  readonly slotMs: number;
  /** Aborts when the run is not to go on, where there is somebody who says so. */
  readonly signal?: AbortSignal;
}

export type Job = (call: Call) => Promise<void>;

/** Connects, and returns how to schedule the job. */
export type Door = (orders: InstanceOrders, job: Job) => Promise<() => ScheduledTask>;
