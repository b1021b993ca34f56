import { createHash } from 'node:crypto';

/** The ticks of a round. */
export const TICKS = 30;
export const TICK_MS = 3000;
export const LOCKS = ['close-day', 'send-invoices', 'count-stock'] as const;
export const LOCK_AT_LEAST_FOR_MS = 1500;
/** Longer than any run: no lease expires, so a running worker has the lock. */
export const LOCK_AT_MOST_FOR_MS = 10_000;
/**
 * Long enough that some workers ask during the run, and others after it, when only `lockAtLeastFor` holds the
 * lock.
 */
export const RUN_MS = 100;

/** Servers need not know the names of zones, but all of them know offsets. */
export interface SessionZone {
  readonly name: string;
  readonly offset: string;
}

export const LOS_ANGELES: SessionZone = { name: 'America/Los_Angeles', offset: '-08:00' };
const PRAGUE: SessionZone = { name: 'Europe/Prague', offset: '+01:00' };

/** How the workers differ. None of this may matter. */
export interface Surroundings {
  /** The time zone of the process. */
  readonly timeZone: string;
  /** The zone of the application's sessions in the database; if left out, the server's. */
  readonly sessionZone?: SessionZone;
}

export const WORKERS: readonly Surroundings[] = [
  { timeZone: 'Pacific/Kiritimati' },
  { timeZone: 'Europe/Prague', sessionZone: LOS_ANGELES },
  { timeZone: 'America/Los_Angeles', sessionZone: PRAGUE },
  { timeZone: 'UTC' },
  { timeZone: 'Pacific/Kiritimati', sessionZone: LOS_ANGELES },
  { timeZone: 'Europe/Prague' },
  { timeZone: 'America/Los_Angeles' },
  { timeZone: 'UTC', sessionZone: LOS_ANGELES },
];

const LONGEST_SKEW_MS = 200;

/**
 * How late a worker's clock is at a tick: random, but the same in every test run. Another worker is first at
 * each tick.
 */
export function skewMs(worker: number, tick: number): number {
  const random = createHash('sha256').update(`${worker} ${tick}`).digest().readUInt32BE() / 2 ** 32;
  return random * LONGEST_SKEW_MS;
}

/**
 * The one clock of all processes. `performance.now()` would count from the start of each process, and its
 * `timeOrigin` is wall-clock time, which may be set meanwhile.
 */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
