import { AsyncLocalStorage } from 'node:async_hooks';
import type { Duration } from '../duration';
import { InvalidLockUseError } from '../errors';
import { Lease } from '../lease/lease';
import type { Lock, LockProvider } from '../lock';
import { processState } from '../process-state';
import type { ObservedRun, RunWrapper } from './events';
import type { SkipReason } from './task-result';

/** A job that runs in this process, from before its lock is requested until the lock's release is written. */
export class ActiveRun {
  // Node creates a signal when it is first read. That takes microseconds, so most code reads the two fields below.
  readonly #stop = new AbortController();
  readonly #abandoned = new AbortController();
  isAskedToStop = false;
  isAbandoned = false;
  readonly settled: Promise<void>;
  #settle = (): void => {};
  #lease: Lock | undefined;
  /** Set once a tick was refused because the handler has outlived its lease. */
  reportedStuck = false;

  constructor(readonly name: string) {
    this.settled = new Promise((resolve) => (this.#settle = resolve));
  }

  /** Aborts when the guard stops waiting for the run. From then on its lease is not renewed, and nothing is recorded. */
  get abandonedSignal(): AbortSignal {
    return this.#abandoned.signal;
  }

  /** Whether the lease has expired while the handler still runs. */
  get isStuck(): boolean {
    return this.#lease?.signal.aborted ?? false;
  }

  /**
   * @param onUnlock called once, when the handler itself releases the lock
   * @returns the lock as the handler sees it
   */
  attach(lock: Lock, onUnlock?: UnlockListener): Lock {
    requireSignal(lock, this.name);
    this.#lease = lock;
    return new HandlerLock(lock, this, onUnlock);
  }

  /** Aborts when the handler is asked to stop. */
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

  end(): void {
    this.#settle();
  }
}

/** Third-party providers can return anything. Without a signal, a lost lease would go unnoticed. */
function requireSignal(lock: Lock, name: string): void {
  if ('signal' in lock) return;
  throw new InvalidLockUseError(
    `The lock provider returned a lock without a signal for '${name}'. It must return a lock with an AbortSignal.`,
  );
}

/** The runs of one executor. It refuses a job that still runs here, and every job once the guard is closing. */
export class RunRegistry {
  readonly #runs = new Map<string, ActiveRun>();
  /** Runs that may wait for their lock, and do not keep others of their name from starting. */
  readonly #waiting = new Set<ActiveRun>();
  readonly #wrappers = new Set<RunWrapper>();
  #closing = false;

  /** @returns a function that removes the wrapper. It stays around the runs that have started. */
  wrap(wrapper: RunWrapper): () => void {
    this.#wrappers.add(wrapper);
    return () => void this.#wrappers.delete(wrapper);
  }

  /** Calls `work` inside all wrappers. */
  observe<T>(run: ObservedRun, work: () => Promise<T>): Promise<T> {
    const wrap = (inner: () => Promise<T>, wrapper: RunWrapper) => () => wrapper(run, inner);
    return [...this.#wrappers].reduce(wrap, work)();
  }

  get closing(): boolean {
    return this.#closing;
  }

  get active(): readonly ActiveRun[] {
    return [...this.#runs.values(), ...this.#waiting];
  }

  close(): void {
    this.#closing = true;
  }

  refusal(name: string): SkipReason | undefined {
    if (this.#closing) return 'closing';
    return this.#runs.has(name) ? 'running-here' : undefined;
  }

  /** @returns `true` the first time it finds this run's lease expired */
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

  beginWaiting(name: string): ActiveRun {
    const run = new ActiveRun(name);
    this.#waiting.add(run);
    return run;
  }

  end(run: ActiveRun): void {
    if (!this.#waiting.delete(run)) this.#runs.delete(run.name);
    run.end();
  }
}

type UnlockListener = (release: Promise<boolean>) => void;

/** Never rejects. */
type ExtensionListener = (lock: Lock) => Promise<void>;

/**
 * The lock as a handler sees it: its signal also aborts when the handler is asked to stop.
 */
class HandlerLock implements Lock {
  readonly name: string;
  readonly #lease: Lock;
  readonly #run: ActiveRun;
  readonly #onUnlock: UnlockListener | undefined;
  #signal: AbortSignal | undefined;
  #release: Promise<boolean> | undefined;
  #extensionListeners: Set<ExtensionListener> | undefined;

  constructor(lease: Lock, run: ActiveRun, onUnlock: UnlockListener | undefined) {
    this.name = lease.name;
    this.#lease = lease;
    this.#run = run;
    this.#onUnlock = onUnlock;
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

  get isAborted(): boolean {
    if (this.#run.isAskedToStop) return true;
    return this.#lease instanceof Lease ? this.#lease.isLost : this.#lease.signal.aborted;
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
  afterExtensions(listener: ExtensionListener): () => void {
    const listeners = (this.#extensionListeners ??= new Set());
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  readonly [Symbol.asyncDispose] = async (): Promise<void> => void (await this.unlock());
}

/**
 * Whether the signal of a lock has aborted. It creates no signal for a lease of cronlatch.
 *
 * @param lock the lock as the handler sees it
 */
export function isAborted(lock: Lock): boolean {
  return lock instanceof HandlerLock ? lock.isAborted : lock.signal.aborted;
}

/**
 * Calls the listener after each extension by the handler, before the handler gets the result. Renewals by `keepAlive`
 * are not reported.
 *
 * @param lock the lock as the handler sees it
 * @returns a function that removes the listener
 */
export function afterExtensions(lock: Lock, listener: ExtensionListener): () => void {
  return lock instanceof HandlerLock ? lock.afterExtensions(listener) : () => {};
}

/** The lease under which code runs. Work that a job left behind still has the context of its job. */
export class LockContext {
  readonly #nested = new Set<Promise<unknown>>();
  /** Never a released context. Otherwise, a job that calls itself from a timer would build an endless chain. */
  readonly outer = innermostContext();
  #released = false;
  /** The lock is kept until this has settled. */
  keptUntil: Promise<unknown> | undefined;

  /**
   * @param lock the lock as the handler sees it
   * @param lease the lock itself, which a handler that was asked to stop still holds
   * @param run its signal aborts when the guard stops waiting for the work
   */
  constructor(
    readonly lock: Lock,
    readonly lease: Lock,
    readonly lockProvider: LockProvider,
    readonly run: { readonly abandonedSignal: AbortSignal },
  ) {}

  /** `true` only while this lease is live: not after its deadline, and not after its release by anyone. */
  isLive(): boolean {
    return !this.#released && !this.lease.signal.aborted && this.lease.remainingMs() > 0;
  }

  isReleased(): boolean {
    return this.#released;
  }

  /** Runs a task inside this lease. The lease is not released before the task has settled. */
  async nest<T>(task: (lock: Lock) => Promise<T>): Promise<T> {
    const run = task(this.lock);
    this.#nested.add(run);
    try {
      return await run;
    } finally {
      this.#nested.delete(run);
    }
  }

  /** Keeps the lock until this has settled, although the caller gets its result before. It must not reject. */
  keepUntil(work: Promise<unknown>): void {
    this.keptUntil = Promise.all([this.keptUntil, work]);
  }

  /**
   * Ends the lease for its code when every nested task has settled, including the tasks that they started.
   *
   * @returns `undefined` if there was no nested task, so that the lease has already ended
   */
  end(): Promise<void> | undefined {
    if (this.#nested.size > 0) return Promise.allSettled(this.#nested).then(() => this.end());
    this.#released = true;
    return undefined;
  }
}

const storage = processState('lock-context', () => new AsyncLocalStorage<LockContext | undefined>());

export function runInContext<T>(context: LockContext, task: () => T): T {
  return storage.run(context, task);
}

/** The context of the innermost run that this code belongs to and that is not released. Its lease may be lost. */
export function innermostContext(): LockContext | undefined {
  let context = storage.getStore();
  while (context?.isReleased()) context = context.outer;
  return context;
}

export function* activeContexts(): Generator<LockContext> {
  for (let context = innermostContext(); context !== undefined; context = context.outer) {
    if (context.isLive()) yield context;
  }
}

/** The live lease of this provider and name to which this code belongs. */
export function liveContext(lockProvider: LockProvider, name: string): LockContext | undefined {
  for (const context of activeContexts())
    if (context.lockProvider === lockProvider && context.lock.name === name) return context;
  return undefined;
}
