import { InvalidLockUseError } from '../errors';
import { LateAbort } from '../lease/late-abort';
import type { Lock } from '../lock';
import { RunLock } from './run-lock';
import type { SkipReason } from './task-result';

/** A job that this process runs, from before its lock is asked for until its release is written. */
export class ActiveRun {
  readonly #stop = new LateAbort();
  readonly #lapse = new LateAbort();
  readonly settled: Promise<void>;
  #settle = (): void => {};
  #lease: Lock | undefined;
  /** Set when a tick was refused because the handler outlived its lease. */
  reportedStuck = false;

  constructor(readonly name: string) {
    this.settled = new Promise((resolve) => (this.#settle = resolve));
  }

  /** Aborts when the run is abandoned: nothing renews its lease from then on. */
  get lapseSignal(): AbortSignal {
    return this.#lapse.signal;
  }

  get abandoned(): boolean {
    return this.#lapse.aborted;
  }

  /** Whether the lease is over and the handler has not noticed. */
  get isStuck(): boolean {
    return this.#lease?.signal.aborted ?? false;
  }

  /** @returns the lock as the handler sees it */
  attach(lock: Lock): Lock {
    refuseOtherThanLock(lock, this.name);
    this.#lease = lock;
    return new RunLock(lock, this.#stop);
  }

  askToStop(reason: unknown): void {
    this.#stop.abort(reason);
  }

  abandon(): void {
    this.#lapse.abort();
  }

  end(): void {
    this.#settle();
  }
}

/** A provider of somebody else may answer anything; without a signal nobody would hear of a lost lease. */
function refuseOtherThanLock(lock: Lock, name: string): void {
  if ('signal' in lock) return;
  throw new InvalidLockUseError(`The lock provider answered for '${name}' with a lock that has no signal.`);
}

/** The runs of one executor: refuses a job that still runs here, and everything once closing has begun. */
export class RunRegistry {
  readonly #runs = new Map<string, ActiveRun>();
  #closing = false;

  get closing(): boolean {
    return this.#closing;
  }

  get active(): readonly ActiveRun[] {
    return [...this.#runs.values()];
  }

  close(): void {
    this.#closing = true;
  }

  refusal(name: string): SkipReason | undefined {
    if (this.#closing) return 'closing';
    return this.#runs.has(name) ? 'running-here' : undefined;
  }

  /** Whether the job that runs under this name is not waited for any more. */
  isAbandoned(name: string): boolean {
    return this.#runs.get(name)?.abandoned ?? false;
  }

  /** @returns true once a lease */
  noticeStuck(name: string): boolean {
    const run = this.#runs.get(name);
    if (run === undefined || run.reportedStuck || !run.isStuck) return false;
    run.reportedStuck = true;
    return true;
  }

  begin(name: string): ActiveRun {
    const run = new ActiveRun(name);
    this.#runs.set(name, run);
    return run;
  }

  end(run: ActiveRun): void {
    this.#runs.delete(run.name);
    run.end();
  }
}
