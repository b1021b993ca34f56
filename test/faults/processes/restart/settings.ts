import type { DataSourceOptions } from 'typeorm';

export const PERIOD_S = 20;
export const JOBS_PER_SECOND = 2;

export interface RestartedMessage {
  readonly event: 'ready';
}

export interface RestartedOrders {
  readonly options: DataSourceOptions;
  /** By how many seconds the ticks come after the start of their period. */
  readonly delayS: number;
}

/** The second of a minute's third in which the periods of a job begin. */
export function secondOf(job: number): number {
  return Math.floor(job / JOBS_PER_SECOND);
}
