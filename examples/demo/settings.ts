/** The settings of the parent and its workers. */
export const WORKERS = ['w1', 'w2', 'w3', 'w4'] as const;

/** The job of every second, and its lock. */
export const JOB = 'every-second';
/** Six fields: every second. */
export const EVERY_TICK = '* * * * * *';
export const TICK_MS = 1000;
export const TICKS = 15;
/** With fewer, the machine was too busy for a result. */
export const FEWEST_TICKS = 12;
/** From this tick on, the first worker found inside its handler is killed there. */
export const KILL_AT_TICK = 4;

/** How often each worker calls the job of the day. */
export const ASK_EVERY_MS = 250;
/** From this tick on, the worker in the day's second attempt is killed there. */
export const KILL_DAY_AT_TICK = 8;
/** Longer than until the kill, so that only the kill ends the second attempt. */
export const SECOND_ATTEMPT_MS = 12_000;
/** With fewer calls, the machine was too busy to show that the job ran once. */
export const FEWEST_ASKS = 60;

/** A crashed run blocks the next ticks for this long at most. */
export const LOCK_AT_MOST_FOR = '3s';
/** Half a tick: a worker that fires late neither repeats its tick nor blocks the next one. */
export const LOCK_AT_LEAST_FOR = '500ms';
export const LOCK_AT_LEAST_FOR_MS = 500;

/** The environment variables by which the parent configures a worker. */
export interface WorkerEnvironment {
  readonly DEMO_WORKER: string;
  readonly DEMO_WITNESS_FILE: string;
  /** The address of the database. */
  readonly DEMO_DATABASE: string;
  /** An instant within the day of the job. Left out: no lock, and no job of the day. */
  readonly DEMO_DAY?: string;
}
