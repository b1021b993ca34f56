import {
  InvalidLockConfigurationError,
  InvalidLockUseError,
  LockStorageError,
  noneAfter,
  SchemaMismatchError,
  type LockState,
} from '../core';
import { PROBED_NAME } from '../core/lock-name';
import type { GuardLocks } from '../guard';

const PAGE = 1000;

/** @param most ends the list with the page that reaches this number */
export async function allLocks(
  locks: GuardLocks,
  { held = false, most = Infinity }: { readonly held?: boolean; readonly most?: number } = {},
): Promise<readonly LockState[]> {
  const all: LockState[] = [];
  let page: readonly LockState[];
  do {
    page = await locks.list({ after: all.at(-1)?.name, limit: PAGE, held });
    all.push(...page);
  } while (page.length === PAGE && all.length < most);
  return all;
}

/**
 * Reads the held locks. A lock provider that cannot list them gets one read for each name, all at once.
 *
 * @returns `areAll`: not only those of the names. `areKnown`: a lock that is not among them is free. `failure`: there was no answer
 * @throws SchemaMismatchError if the table of locks is missing or wrong
 */
export async function readHeldLocks(locks: GuardLocks, names: Iterable<string>) {
  try {
    const listed = await allLocks(locks, { held: true }).catch(unableTo);
    if (listed !== undefined) return { held: listed, areAll: true, areKnown: true };
    // Without a known job, the answer of the store still matters.
    const probe = locks.inspect(PROBED_NAME).then(() => true);
    const reads = [...names].map((name) => locks.inspect(name).catch(unableTo));
    const [canInspect, ...found] = await Promise.all([probe.catch(unableTo), ...reads]);
    const held = found.flatMap((lock) => (lock?.isHeld ? [lock] : []));
    return { held, areAll: false, areKnown: canInspect === true };
  } catch (failure) {
    if (!isNoAnswer(failure)) throw failure;
    return { held: [], areAll: false, areKnown: false, failure };
  }
}

/** Whether the lock provider did not answer. If its table is missing or wrong, it did. */
export function isNoAnswer(error: unknown): error is LockStorageError {
  return error instanceof LockStorageError && !(error instanceof SchemaMismatchError);
}

/** Of a lock provider without that method, or a name that it cannot have. */
export const unableTo = noneAfter(InvalidLockUseError, InvalidLockConfigurationError);
