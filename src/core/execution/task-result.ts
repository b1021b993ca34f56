import { InvalidLockUseError } from '../errors';
import type { Lock } from '../lock';

/**
 * Why a task did not run:
 *
 * - `locked`: another holder has the lock.
 * - `running-here`: this process still runs the job, or does not know yet that it has ended.
 * - `closing`: the guard is closing.
 * - `disabled`: the job's `enabled` is `false`.
 *
 * Only for a job that runs once per period:
 *
 * - `already-completed`: its run of this period has completed.
 * - `running-elsewhere`: another instance runs it, or may still run it.
 * - `not-due`: no attempt is due now; a failed run is retried later.
 * - `exhausted`: it has failed permanently.
 * - `interrupted`: its holder crashed, and an operator must resolve the run.
 * - `skipped`: the period is recorded as having no run.
 * - `calendar`: the date is not a business day, or the calendar failed and cronlatch will ask it again.
 * - `deadline`: it is too late for a first attempt.
 */
export type SkipReason =
  | 'locked'
  | 'running-here'
  | 'closing'
  | 'disabled'
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

/** A task that runs while the lock is held. cronlatch awaits its result before it releases the lock. */
export type LockedTask<T> = (lock: Lock) => T | PromiseLike<T>;

/** Refuses a result whose work would continue unnoticed after the release of the lock. */
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
