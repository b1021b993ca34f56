/**
 * What a worker recorded of a tick, in the machine's time, independently of the lock table and the library.
 */
export interface WitnessRecord {
  /**
   * - `fired`: the worker's tick came, and it requests the lock.
   * - `enter`, `leave`: the handler started and ended.
   * - `answered`: the guarded call has ended: refused, or run and released.
   * - `failed`: the guarded call rejected.
   */
  readonly event: 'fired' | 'enter' | 'leave' | 'answered' | 'failed';
  readonly worker: number;
  readonly lock: string;
  readonly tick: number;
  readonly atMs: number;
  /** For `fired`: how long after the tick's time. */
  readonly lateMs?: number;
  readonly error?: string;
}

export interface Run {
  readonly worker: number;
  readonly tick: number;
  readonly enteredAtMs: number;
  /** `Infinity` if it never did. */
  readonly leftAtMs: number;
  readonly releasedAtMs: number;
}

/** A tick of a lock, combined from the records of all workers. */
export interface TickLock {
  readonly lock: string;
  readonly tick: number;
  /** The number of workers that fired. */
  readonly fired: number;
  readonly firstFiredAtMs: number;
  /** When the last worker got its answer; `Infinity` if one never did. */
  readonly allAnsweredAtMs: number;
  /** In the order of their starts. */
  readonly runs: readonly Run[];
  readonly failures: readonly string[];
}

/** In the order of locks and ticks. */
export function tickLocks(
  records: readonly WitnessRecord[],
  { locks, ticks }: { readonly locks: readonly string[]; readonly ticks: number },
): TickLock[] {
  return locks.flatMap((lock) =>
    Array.from({ length: ticks }, (_, tick) =>
      tickLock(
        lock,
        tick,
        records.filter((record) => record.lock === lock && record.tick === tick),
      ),
    ),
  );
}

function tickLock(lock: string, tick: number, records: readonly WitnessRecord[]): TickLock {
  const fired = records.filter(({ event }) => event === 'fired');
  const when = (event: WitnessRecord['event'], worker: number): number =>
    records.find((record) => record.event === event && record.worker === worker)?.atMs ?? Infinity;
  return {
    lock,
    tick,
    fired: fired.length,
    firstFiredAtMs: Math.min(...fired.map(({ atMs }) => atMs)),
    allAnsweredAtMs: Math.max(
      ...fired.map(({ worker }) => Math.min(when('enter', worker), when('answered', worker))),
    ),
    runs: records
      .filter(({ event }) => event === 'enter')
      .map(({ worker, atMs }) => ({
        worker,
        tick,
        enteredAtMs: atMs,
        leftAtMs: when('leave', worker),
        releasedAtMs: when('answered', worker),
      }))
      .sort((a, b) => a.enteredAtMs - b.enteredAtMs),
    failures: records.flatMap(({ event, worker, error }) =>
      event === 'failed' ? [`worker ${worker}: ${error}`] : [],
    ),
  };
}
