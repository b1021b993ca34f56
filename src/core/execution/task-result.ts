import { InvalidLockUseError } from '../errors';
import type { Lock } from '../lock';
import type { SkipReason } from './skip-reason';

export type { SkipReason } from './skip-reason';

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
