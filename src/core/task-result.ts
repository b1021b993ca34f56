import type { Lock } from './lock';

/**
 * Why a task did not run:
 *
 * - `locked`: another holder has the lock.
 * - `running-here`: this process still runs the job, or cannot tell yet that it has ended.
 * - `closing`: the guard is being closed.
 */
export type SkipReason = 'locked' | 'running-here' | 'closing';

export type TaskResult<T> =
  { readonly executed: true; readonly value: T } | { readonly executed: false; readonly reason: SkipReason };

/** Runs while the lock is held. What it returns is awaited before the lock is released. */
export type LockedTask<T> = (lock: Lock) => T | PromiseLike<T>;
