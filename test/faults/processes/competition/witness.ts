/** What a worker itself wrote down of a tick, in the machine's time. Neither the lock table nor the library is asked. */
export interface WitnessRecord {
  /**
   * - `fired`: the worker woke for the tick, and asks for the lock.
   * - `enter`, `leave`: the handler began and ended.
   * - `answered`: the guarded call is over: refused, or run and released.
   * - `failed`: the guarded call rejected.
   */
  readonly event: 'fired' | 'enter' | 'leave' | 'answered' | 'failed';
  readonly worker: number;
  readonly lock: string;
  readonly tick: number;
  readonly atMs: number;
  /** Of a firing: how long after the tick's instant. */
  readonly lateMs?: number;
  readonly error?: string;
}

export interface Run {
  readonly worker: number;
  readonly tick: number;
  readonly enteredAtMs: number;
  /** `Infinity` when it never did. */
  readonly leftAtMs: number;
  readonly releasedAtMs: number;
}

/** A tick of a lock, as all workers together saw it. */
export interface TickLock {
  readonly lock: string;
  readonly tick: number;
  /** How many workers fired. */
  readonly fired: number;
  readonly firstFiredAtMs: number;
  /** When the last worker knew whether it runs; `Infinity` when one never did. */
  readonly allAnsweredAtMs: number;
  /** In the order in which they were entered. */
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
