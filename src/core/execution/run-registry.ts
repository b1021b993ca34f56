import { AsyncLocalStorage } from 'node:async_hooks';
import type { Duration } from '../duration';
import { InvalidLockUseError } from '../errors';
import { Lease } from '../lease/lease';
import type { Lock, LockProvider } from '../lock';
import { processState } from '../process-state';
import type { ObservedRun, RunLockEvent, RunningLock, RunWrapper } from './events';
import type { SkipReason } from './task-result';

/** A job that runs in this process, from before its lock is requested until the lock's release is written. */
export class ActiveRun {
  // Node creates a signal when it is first read. That takes microseconds, so most code reads the two fields below.
  readonly #stop = new AbortController();
  readonly #abandoned = new AbortController();
  isAskedToStop = false;
  isAbandoned = false;
  isReleasing = false;
  end = (): void => {};
  readonly settled = new Promise<void>((resolve) => (this.end = resolve));
  lease: Lock | undefined;
  grantedAtMs = 0;
  /** The task under the lock, the last one if there were several. */
  task: RunLockEvent | undefined;
  /** Set once a tick was refused because the handler has outlived its lease. */
  reportedStuck = false;

  constructor(readonly name: string) {}

  /** Aborts when the guard stops waiting for the run. From then on its lease is not renewed, and nothing is recorded. */
  get abandonedSignal(): AbortSignal {
    return this.#abandoned.signal;
  }

  /** `undefined` if it does not hold its lock now. */
  get heldLock(): RunningLock | undefined {
    const { name, lease, grantedAtMs, task } = this;
    if (lease === undefined || lease.signal.aborted) return undefined;
    const [since, until] = [new Date(grantedAtMs), new Date(Date.now() + lease.remainingMs())];
    return { name, job: task?.job, run: task?.run, since, until, fencingToken: lease.fencingToken };
  }

  get stopSignal(): AbortSignal {
    return this.#stop.signal;
  }

  askToStop(reason: unknown): void {
    this.isAskedToStop = true;
    this.#stop.abort(reason);
  }

  abandon(): void {
    this.isAbandoned = true;
    this.#abandoned.abort();
  }
}

/** The runs of one executor. It refuses a job that still runs here, and every job once the guard is closing. */
export class RunRegistry {
  readonly #runs = new Map<string, ActiveRun>();
  /** Runs that may wait for their lock, and do not keep others of their name from starting. */
  readonly #waiting = new Set<ActiveRun>();
  /** Runs that have ended before their releases. */
  readonly #unreleased = new Set<ActiveRun>();
  readonly #wrappers = new Set<RunWrapper>();
  closing = false;

  /** @returns a function that removes the wrapper. It stays around the runs that have started. */
  wrap(wrapper: RunWrapper): () => void {
    this.#wrappers.add(wrapper);
    return () => void this.#wrappers.delete(wrapper);
  }

  observe<T>(run: ObservedRun, work: () => Promise<T>): Promise<T> {
    const wrap = (inner: () => Promise<T>, wrapper: RunWrapper) => () => wrapper(run, inner);
    return [...this.#wrappers].reduce(wrap, work)();
  }

  get active(): readonly ActiveRun[] {
    return [...this.#runs.values(), ...this.#waiting];
  }

  held(): readonly RunningLock[] {
    return this.active.flatMap((run) => run.heldLock ?? []);
  }

  close(): void {
    this.closing = true;
    for (const run of this.#unreleased) run.abandon();
  }

  refusal(name: string): SkipReason | undefined {
    if (this.closing) return 'closing';
    return this.#runs.has(name) ? 'running-here' : undefined;
  }

  /** @returns `true` the first time it finds this run's lease expired */
  noticeStuck(name: string): boolean {
    const run = this.#runs.get(name);
    if (run === undefined || run.reportedStuck || !run.lease?.signal.aborted) return false;
    run.reportedStuck = true;
    return true;
  }

  begin(name: string, { mayWait = false } = {}): ActiveRun {
    const run = new ActiveRun(name);
    if (mayWait) this.#waiting.add(run);
    else this.#runs.set(name, run);
    return run;
  }

  end(run: ActiveRun): void {
    if (!this.#unreleased.delete(run) && !this.#waiting.delete(run)) this.#runs.delete(run.name);
    run.end();
  }

  /** Ends a run before its release, which nothing waits for. A closing guard gives it up. */
  endUnreleased(run: ActiveRun): void {
    this.end(run);
    this.#unreleased.add(run);
    if (this.closing) run.abandon();
  }
}

/** Never rejects. */
type ExtensionListener = (lock: Lock) => Promise<void>;

/**
 * A lock while it is held: what the handler gets, and the context of the code that runs under it. Its signal also aborts
 * when the handler is asked to stop. Work that a job left behind still has the lock of its job.
 */
export class GrantedLock implements Lock {
  readonly name: string;
  readonly #lease: Lock;
  readonly #provider: LockProvider;
  readonly #run: ActiveRun;
  readonly #onUnlock: ((release: Promise<boolean>) => void) | undefined;
  /** Never a released one. Otherwise, a job that calls itself from a timer would build an endless chain. */
  readonly #outer = innermostLock();
  readonly #nested = new Set<Promise<unknown>>();
  #signal: AbortSignal | undefined;
  #release: Promise<boolean> | undefined;
  #extensionListeners: Set<ExtensionListener> | undefined;
  #keptUntil: Promise<unknown> | undefined;
  #hasEnded = false;

  /**
   * @param onUnlock called once, when the lock is released
   * @throws InvalidLockUseError if a provider of a third party has returned no lock
   */
  constructor(
    lease: Lock,
    provider: LockProvider,
    run: ActiveRun,
    onUnlock?: (release: Promise<boolean>) => void,
  ) {
    // Third-party providers can return anything. Without a signal, a lost lease would go unnoticed.
    if (!('signal' in lease))
      throw new InvalidLockUseError(
        `The lock provider returned a lock without a signal for '${run.name}'. It must return a lock with an AbortSignal.`,
      );
    this.name = lease.name;
    this.#lease = lease;
    this.#provider = provider;
    this.#run = run;
    this.#onUnlock = onUnlock;
    run.lease = lease;
    run.grantedAtMs = Date.now();
  }

  get fencingToken(): number | undefined {
    return this.#lease.fencingToken;
  }

  get signal(): AbortSignal {
    const { signal } = this.#lease;
    // Reading the lease's own signal checks the clock. It aborts our signal too if the lease has expired.
    if (signal.aborted) return signal;
    return (this.#signal ??= AbortSignal.any([signal, this.#run.stopSignal]));
  }

  // Fields: a handler may take them out of the lock, as in `({ signal, extend }) => …`.
  readonly remainingMs = (): number => this.#lease.remainingMs();
  readonly unlock = (): Promise<boolean> => {
    if (this.#release === undefined) {
      this.#release = this.#lease.unlock();
      this.#onUnlock?.(this.#release);
    }
    return this.#release;
  };
  readonly extend = async (lockAtMostFor: Duration): Promise<boolean> => {
    const isExtended = await this.#lease.extend(lockAtMostFor);
    if (isExtended) for (const listener of this.#extensionListeners ?? []) await listener(this);
    return isExtended;
  };
  readonly [Symbol.asyncDispose] = async (): Promise<void> => void (await this.unlock());

  get isLost(): boolean {
    return this.#lease instanceof Lease ? this.#lease.isLost : this.#lease.signal.aborted;
  }

  get run(): ActiveRun {
    return this.#run;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get outer(): GrantedLock | undefined {
    return this.#outer;
  }

  /** `true` only while the lease is live: not after its deadline, and not after its release by anyone. */
  isLive(): boolean {
    return !this.#hasEnded && !this.#lease.signal.aborted && this.#lease.remainingMs() > 0;
  }

  isOf(provider: LockProvider, name: string): boolean {
    return this.#provider === provider && this.name === name;
  }

  afterExtensions(listener: ExtensionListener): () => void {
    const listeners = (this.#extensionListeners ??= new Set());
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  keepUntil(work: Promise<unknown>): void {
    this.#keptUntil = Promise.all([this.#keptUntil, work]);
  }

  get keptUntil(): Promise<unknown> | undefined {
    return this.#keptUntil;
  }

  /** Runs work whose code belongs to this lock. Then waits for every nested task, including those that they started. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await storage.run(this, work);
    } finally {
      while (this.#nested.size > 0) await Promise.allSettled(this.#nested);
      this.#hasEnded = true;
    }
  }

  async nest<T>(task: () => Promise<T>): Promise<T> {
    const run = task();
    this.#nested.add(run);
    try {
      return await run;
    } finally {
      this.#nested.delete(run);
    }
  }
}

/** Whether the signal of a lock, as the handler sees it, has aborted. It creates no signal for a lease of cronlatch. */
export function isAborted(lock: Lock): boolean {
  return lock instanceof GrantedLock ? lock.run.isAskedToStop || lock.isLost : lock.signal.aborted;
}

/** Whether an error is the abort by which the closing guard has asked the handler to stop, or was caused by it. */
export function isStop(lock: Lock, error: unknown, depth = 0): boolean {
  // An error can be its own cause.
  if (!(lock instanceof GrantedLock) || !lock.run.isAskedToStop || depth > 20) return false;
  try {
    return error === lock.run.stopSignal.reason || isStop(lock, (error as Error).cause, depth + 1);
  } catch {
    return false; // Not an object, or one that cannot be read.
  }
}

/**
 * Calls the listener after each extension by the handler, before the handler gets the result. Renewals by `keepAlive`
 * are not reported. The returned function removes the listener.
 */
export function afterExtensions(lock: Lock, listener: ExtensionListener): () => void {
  return lock instanceof GrantedLock ? lock.afterExtensions(listener) : () => {};
}

const storage = processState('granted-locks', () => new AsyncLocalStorage<GrantedLock | undefined>());

/** The innermost lock that this code belongs to and that has not ended. Its lease may be lost. */
export function innermostLock(): GrantedLock | undefined {
  let lock = storage.getStore();
  while (lock?.hasEnded) lock = lock.outer;
  return lock;
}

export function* liveLocks(): Generator<GrantedLock> {
  for (let lock = innermostLock(); lock !== undefined; lock = lock.outer) if (lock.isLive()) yield lock;
}

/** The live lock of this provider and name to which this code belongs. */
export function liveLock(provider: LockProvider, name: string): GrantedLock | undefined {
  for (const lock of liveLocks()) if (lock.isOf(provider, name)) return lock;
  return undefined;
}
