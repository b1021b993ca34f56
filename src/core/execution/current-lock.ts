import type { Duration } from '../duration';
import { LockNotHeldError } from '../errors';
import type { Lock } from '../lock';
import { innermostLock, liveLocks } from './run-registry';

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
  const lock = innermostLock();
  if (lock !== undefined || optional) return lock;
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
    for (const lock of liveLocks()) if (name === undefined || lock.name === name) return;
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
    const [lock] = liveLocks();
    if (lock === undefined)
      throw new LockNotHeldError(
        'Cannot extend a lock: no lock is held here. Call this from a guarded job, while its lease lasts.',
      );
    return await lock.extend(lockAtMostFor);
  },
};
