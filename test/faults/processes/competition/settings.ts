import { createHash } from 'node:crypto';

export const TICKS = 30;
export const TICK_MS = 3000;
export const LOCKS = ['close-day', 'send-invoices', 'count-stock'] as const;
export const LOCK_AT_LEAST_FOR_MS = 1500;
/** Longer than any run: no lease lapses, so whoever still runs has the lock. */
export const LOCK_AT_MOST_FOR_MS = 10_000;
/** Long enough that some ask while it runs, and others when it is over and held by `lockAtLeastFor` alone. */
export const RUN_MS = 100;

/** Servers need not know the names of zones; an offset they all know. */
export interface SessionZone {
  readonly name: string;
  readonly offset: string;
}

export const LOS_ANGELES: SessionZone = { name: 'America/Los_Angeles', offset: '-08:00' };
export const PRAGUE: SessionZone = { name: 'Europe/Prague', offset: '+01:00' };

/** How the workers differ from one another. None of it may matter. */
export interface Surroundings {
  /** Of the process. */
  readonly timeZone: string;
  /** Of the application's sessions in the database; left out, the server's. */
  readonly sessionZone?: SessionZone;
  readonly connections: 'own' | 'shared';
}

export const WORKERS: readonly Surroundings[] = [
  { timeZone: 'Pacific/Kiritimati', connections: 'own' },
  { timeZone: 'Europe/Prague', connections: 'own', sessionZone: LOS_ANGELES },
  { timeZone: 'America/Los_Angeles', connections: 'own', sessionZone: PRAGUE },
  { timeZone: 'UTC', connections: 'own' },
  { timeZone: 'Pacific/Kiritimati', connections: 'own', sessionZone: LOS_ANGELES },
  { timeZone: 'Europe/Prague', connections: 'shared' },
  { timeZone: 'America/Los_Angeles', connections: 'shared', sessionZone: PRAGUE },
  { timeZone: 'UTC', connections: 'shared', sessionZone: LOS_ANGELES },
];

const LONGEST_SKEW_MS = 200;

/** How late a worker's clock is at a tick: at random, the same in every run. The first of one tick is not that of the next. */
export function skewMs(worker: number, tick: number): number {
  const random = createHash('sha256').update(`${worker} ${tick}`).digest().readUInt32BE() / 2 ** 32;
  return random * LONGEST_SKEW_MS;
}

/**
 * The one clock of all processes. Not `performance.now()`, which counts from the start of each process, nor its
 * `timeOrigin`, which is wall-clock time and may be set in between.
 */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
