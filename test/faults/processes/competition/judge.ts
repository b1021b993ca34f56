import { tickLocks, type Run, type TickLock, type WitnessRecord } from './witness';

export interface Rules {
  readonly workers: number;
  readonly locks: readonly string[];
  readonly ticks: number;
  readonly lockAtLeastForMs: number;
  /** The number of tick-locks for which it must be certain that exactly one run is right. */
  readonly fewestExact: number;
}

export interface Verdict {
  /** The lock's violations, a sentence each. */
  readonly complaints: readonly string[];
  /** How many tick-locks needed exactly one run. */
  readonly exact: number;
  readonly runs: number;
  readonly latestFiringMs: number;
  /** From the first worker's firing to the last one's answer, in the slowest tick-lock. */
  readonly slowestMs: number;
}

/** The workers fired, or were answered, too late for a result. This is not a fault of the lock. */
export class MachineTooSlowError extends Error {
  override readonly name = 'MachineTooSlowError';
}

/** SQLite's clock counts whole milliseconds, and may run a little faster or slower than the machine's. */
const CLOCKS_DIFFER_MS = 10;

/**
 * What can be known from outside: the first grant of a tick comes after the first firing, and every request
 * came before its answer. So a second grant within `lockAtLeastFor` after the first firing is always wrong.
 * One grant is required if every worker was answered by then and all earlier runs had released the lock
 * before. A worker that the machine delayed for longer than that may run a second time: such a tick-lock is
 * not exact.
 */
export function judge(records: readonly WitnessRecord[], rules: Rules): Verdict {
  const all = tickLocks(records, rules);
  const exact = all.filter((one) => isExact(one, all, rules));
  const missing = exact.filter(({ runs }) => runs.length === 0);
  return {
    complaints: [
      ...rules.locks.flatMap((lock) => overlaps(all.filter((one) => one.lock === lock))),
      ...all.flatMap((one) => duplicates(one, rules)),
      ...all.flatMap(unfinished),
      ...missing.map((one) => `${nameOf(one)}: no worker ran.`),
      ...all.flatMap((one) => one.failures.map((failure) => `${nameOf(one)}: ${failure}`)),
    ],
    exact: exact.length,
    runs: all.reduce((sum, { runs }) => sum + runs.length, 0),
    latestFiringMs: Math.max(...records.map(({ lateMs = 0 }) => lateMs)),
    slowestMs: Math.max(
      ...all.map(({ allAnsweredAtMs, firstFiredAtMs }) => allAnsweredAtMs - firstFiredAtMs),
    ),
  };
}

/**
 * @throws Error with all complaints
 * @throws MachineTooSlowError if there are none, but too little could be judged
 */
export function pronounce({ complaints, exact, latestFiringMs, slowestMs }: Verdict, rules: Rules): void {
  if (complaints.length > 0) throw new Error(complaints.join('\n'));
  if (exact >= rules.fewestExact) return;
  throw new MachineTooSlowError(
    `In only ${exact} of ${rules.locks.length * rules.ticks} tick-locks, fewer than ${rules.fewestExact}, all workers fired and had their answer within lockAtLeastFor (${rules.lockAtLeastForMs} ms). The latest fired ${latestFiringMs.toFixed()} ms after its tick, the slowest answers took ${slowestMs.toFixed()} ms.`,
  );
}

function isExact(one: TickLock, all: readonly TickLock[], { workers, lockAtLeastForMs }: Rules): boolean {
  const earlier = all
    .filter(({ lock, tick }) => lock === one.lock && tick < one.tick)
    .flatMap(({ runs }) => runs);
  const freeAtMs = ({ enteredAtMs, releasedAtMs }: Run): number =>
    Math.max(releasedAtMs, enteredAtMs + lockAtLeastForMs + CLOCKS_DIFFER_MS);
  return (
    one.fired === workers &&
    one.allAnsweredAtMs < certainUntilMs(one, lockAtLeastForMs) &&
    earlier.every((run) => freeAtMs(run) < one.firstFiredAtMs)
  );
}

function certainUntilMs({ firstFiredAtMs }: TickLock, lockAtLeastForMs: number): number {
  return firstFiredAtMs + lockAtLeastForMs - CLOCKS_DIFFER_MS;
}

function duplicates(one: TickLock, { lockAtLeastForMs }: Rules): string[] {
  return one.runs
    .slice(1)
    .filter(({ enteredAtMs }) => enteredAtMs < certainUntilMs(one, lockAtLeastForMs))
    .map(({ worker }) => `${nameOf(one)}: worker ${worker} ran, too, after worker ${one.runs[0]?.worker}.`);
}

/** @param ofOneLock its tick-locks */
function overlaps(ofOneLock: readonly TickLock[]): string[] {
  const lock = ofOneLock[0]?.lock;
  const runs = ofOneLock.flatMap((one) => one.runs).sort((a, b) => a.enteredAtMs - b.enteredAtMs);
  const found: string[] = [];
  let last: Run | undefined;
  for (const run of runs) {
    if (last !== undefined && run.enteredAtMs < last.leftAtMs) {
      found.push(
        `${lock}: worker ${run.worker} entered at tick ${run.tick} while worker ${last.worker} was inside.`,
      );
    }
    if (last === undefined || run.leftAtMs > last.leftAtMs) last = run;
  }
  return found;
}

function unfinished(one: TickLock): string[] {
  return one.runs
    .filter(({ leftAtMs }) => leftAtMs === Infinity)
    .map(({ worker }) => `${nameOf(one)}: worker ${worker} never left.`);
}

function nameOf({ lock, tick }: TickLock): string {
  return `${lock} at tick ${tick}`;
}
