import { AsyncLocalStorage } from 'node:async_hooks';
import type { Duration } from '../duration';
import { LockNotHeldError } from '../errors';
import type { Lock, LockProvider } from '../lock';
import { processState } from '../process-state';

/** A lease as seen from inside the work that it guards, and from work that the job left behind. */
export class LockContext {
  readonly #nested = new Set<Promise<unknown>>();
  /** Never a released one: a job that calls itself from a timer would build a chain of them. */
  readonly outer = innermostContext();
  #released = false;

  /**
   * @param lock the lock as the work sees it
   * @param lease the lock itself: a job that was asked to stop still holds it
   * @param abandonedSignal aborts when the guard stops waiting for the work
   */
  constructor(
    readonly lock: Lock,
    private readonly lease: Lock,
    readonly lockProvider: LockProvider,
    readonly abandonedSignal: AbortSignal,
  ) {}

  /** True only while this very lease is live: not after its release, by whomever, and not after its deadline. */
  isLive(): boolean {
    return !this.#released && !this.lease.signal.aborted && this.lease.remainingMs() > 0;
  }

  isReleased(): boolean {
    return this.#released;
  }

  /** Runs a task inside this lease, which is not released before the task has settled. */
  async nest<T>(task: (lock: Lock) => Promise<T>): Promise<T> {
    const run = task(this.lock);
    this.#nested.add(run);
    try {
      return await run;
    } finally {
      this.#nested.delete(run);
    }
  }

  /**
   * Over when every nested task has settled, those that they started included; at once where there is none. From then on
   * the lease is over.
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

/** The innermost run that this code belongs to, its lease lost or not, that was not released. */
function innermostContext(): LockContext | undefined {
  let context = storage.getStore();
  while (context?.isReleased()) context = context.outer;
  return context;
}

export function* activeContexts(): Generator<LockContext> {
  for (let context = innermostContext(); context !== undefined; context = context.outer) {
    if (context.isLive()) yield context;
  }
}

/**
 * The lock of the innermost guarded run that this code belongs to, until it is released; `undefined` outside of one. A
 * lease that is lost is still the current one, with its signal aborted: `currentLock()?.signal.throwIfAborted()` stops.
 */
export function currentLock(): Lock | undefined {
  return innermostContext()?.lock;
}

/** For code that must never run outside its lock: call it before the effect. */
export const LockAssert = {
  /**
   * @param name which lock; any, if left out
   * @throws LockNotHeldError unless this code runs in a live lease, released or run out ones not counted
   */
  assertLocked(name?: string): void {
    for (const { lock } of activeContexts()) if (name === undefined || lock.name === name) return;
    throw new LockNotHeldError(
      `${name === undefined ? 'No lock is' : `Lock '${name}' is not`} held here. Call this from a guarded job, while its lease lasts.`,
    );
  },
};

/** For work that finds out that it needs longer. */
export const LockExtender = {
  /**
   * Moves the end of the innermost live lease to now + `lockAtMostFor`.
   *
   * @returns `false` when the lease turned out to be lost
   * @throws LockNotHeldError outside a live lease
   * @throws LockStorageError when the store did not answer; the old end of the lease still counts
   */
  async extendActiveLock(lockAtMostFor: Duration): Promise<boolean> {
    const [context] = activeContexts();
    if (context === undefined)
      throw new LockNotHeldError(
        'No lock is held here that could be extended. Call this from a guarded job.',
      );
    return await context.lock.extend(lockAtMostFor);
  },
};
