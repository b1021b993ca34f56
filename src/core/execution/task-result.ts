import { InvalidLockUseError } from '../errors';
import type { Lock } from '../lock';

/**
 * Why a task did not run:
 *
 * - `locked`: another holder has the lock.
 * - `running-here`: this process still runs the job, or cannot tell yet that it has ended.
 * - `closing`: the guard is being closed.
 *
 * And of a job that runs once per period:
 *
 * - `already-completed`: its run of this period is done.
 * - `running-elsewhere`: somebody else runs it, and may still do so.
 * - `not-due`: it has failed, and is tried again later.
 * - `exhausted`: it has failed, and is given up.
 * - `interrupted`: its holder vanished, and a person decides.
 * - `skipped`: the period is to have no run.
 * - `calendar`: not on such a date; or the calendar failed, and is asked again.
 * - `deadline`: it is too late for a first attempt.
 */
export type SkipReason =
  | 'locked'
  | 'running-here'
  | 'closing'
  | 'already-completed'
  | 'running-elsewhere'
  | 'not-due'
  | 'exhausted'
  | 'interrupted'
  | 'skipped'
  | 'calendar'
  | 'deadline';

export type TaskResult<T> =
  { readonly executed: true; readonly value: T } | { readonly executed: false; readonly reason: SkipReason };

/** Runs while the lock is held. What it returns is awaited before the lock is released. */
export type LockedTask<T> = (lock: Lock) => T | PromiseLike<T>;

/** Refuses results whose work would go on, unnoticed, after the release of the lock. */
export function refuseUnawaitable(name: string, result: unknown): void {
  const kind = kindOf(result);
  if (kind === undefined) return;
  throw new InvalidLockUseError(
    `The handler of lock '${name}' returned ${kind}: its work would run after the release. Await it inside the handler.`,
  );
}

function kindOf(result: unknown): string | undefined {
  if (typeof result !== 'object' || result === null || 'then' in result) return undefined;
  if (Symbol.asyncIterator in result) return 'an async iterator';
  if (Symbol.iterator in result && 'next' in result) return 'a generator or iterator';
  if ('subscribe' in result && typeof result.subscribe === 'function') return 'an Observable';
  return undefined;
}

/** Whether a value settles like a promise, of any library or realm. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return isObject && typeof (value as Partial<PromiseLike<unknown>>).then === 'function';
}
