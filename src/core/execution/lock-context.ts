import { AsyncLocalStorage } from 'node:async_hooks';
import type { Duration } from '../duration';
import { LockNotHeldError } from '../errors';
import type { Lock, LockProvider } from '../lock';
import { processState } from '../process-state';

/** The lease under which code runs. Work that a job left behind still has the context of its job. */
export class LockContext {
  readonly #nested = new Set<Promise<unknown>>();
  /** Never a released context. Otherwise, a job that calls itself from a timer would build an endless chain. */
  readonly outer = innermostContext();
  #released = false;
  #keptUntil: Promise<unknown> | undefined;

  /**
   * @param lock the lock as the handler sees it
   * @param lease the lock itself, which a handler that was asked to stop still holds
   * @param run its signal aborts when the guard stops waiting for the work
   */
  constructor(
    readonly lock: Lock,
    private readonly lease: Lock,
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
    this.#keptUntil = Promise.all([this.#keptUntil, work]);
  }

  get keptUntil(): Promise<unknown> | undefined {
    return this.#keptUntil;
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

/** The live lease of this provider and name to which this code belongs. */
export function liveContext(lockProvider: LockProvider, name: string): LockContext | undefined {
  for (const context of activeContexts())
    if (context.lockProvider === lockProvider && context.lock.name === name) return context;
  return undefined;
}

/** For code that also runs outside a job. */
export interface CurrentOptions {
  /** Returns `undefined` outside a job instead of throwing. Default `false`. */
  readonly optional?: boolean | undefined;
}

/**
 * The lock of the innermost guarded run that this code belongs to, until its release. A lost lease stays the current
 * one, with its signal aborted, so that `currentLock().signal.throwIfAborted()` stops the work.
 *
 * @throws LockNotHeldError outside a guarded run, unless `optional` is set
 */
export function currentLock(options?: { readonly optional?: false | undefined }): Lock;
export function currentLock(options: CurrentOptions): Lock | undefined;
export function currentLock({ optional = false }: CurrentOptions = {}): Lock | undefined {
  const context = innermostContext();
  if (context !== undefined || optional) return context?.lock;
  throw new LockNotHeldError(
    'currentLock() was called outside a guarded job. Call it from a job while it runs. If the code also runs elsewhere, call currentLock({ optional: true }).',
  );
}

/** For code that must never run outside its lock. Call it before the effect. */
export const LockAssert = {
  /**
   * @param name the required lock; any lock if left out
   * @throws LockNotHeldError unless this code runs in a live lease, neither released nor expired
   */
  assertLocked(name?: string): void {
    for (const { lock } of activeContexts()) if (name === undefined || lock.name === name) return;
    throw new LockNotHeldError(
      `${name === undefined ? 'No lock is' : `Lock '${name}' is not`} held here. Call this from a guarded job, while its lease lasts.`,
    );
  },
};

/** For work that turns out to need more time. */
export const LockExtender = {
  /**
   * Moves the end of the innermost live lease to now + `lockAtMostFor`.
   *
   * @returns `false` if the lease turned out to be lost
   * @throws LockNotHeldError outside a live lease
   * @throws LockStorageError if the store did not answer; the old end of the lease still counts
   */
  async extendActiveLock(lockAtMostFor: Duration): Promise<boolean> {
    const [context] = activeContexts();
    if (context === undefined)
      throw new LockNotHeldError(
        'Cannot extend a lock: no lock is held here. Call this from a guarded job, while its lease lasts.',
      );
    return await context.lock.extend(lockAtMostFor);
  },
};
