import { InvalidLockUseError } from '../errors';

/** What a handler may not return: work that would go on after the release without anybody knowing. */
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

/** Whether it settles like a promise, of whichever library or realm. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return isObject && typeof (value as Partial<PromiseLike<unknown>>).then === 'function';
}
