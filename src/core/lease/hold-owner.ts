import { isKept, LONGEST_OWNER, RELEASED_MARK } from './owner';

/** The longest owner that leaves room for the mark of a release. */
export const LONGEST_HOLD_OWNER = LONGEST_OWNER - RELEASED_MARK.length;

/** The time makes it unique for each call. A slash ends the actor, so one within it is `%2F`. */
export function newHoldOwner(actor: string, reason: string, since: Date): string {
  const encoded = actor.replaceAll('%', '%25').replaceAll('/', '%2F');
  return `hold/${encoded}/${reason}/${since.toISOString()}`;
}

/** The operator who holds a lock. A host can be called 'hold', so the time at the end decides. */
export function readHold(lockedBy: string) {
  const [, encoded, reason = '', since = ''] =
    /^hold\/([^/]+)\/(.+)\/([\d-]+T[\d:.]+Z)$/s.exec(lockedBy) ?? [];
  const actor = encoded?.replaceAll('%2F', '/').replaceAll('%25', '%');
  return actor === undefined ? undefined : { actor, reason, since: new Date(since) };
}

/** Neither an operator holds it, nor `lockAtLeastFor` keeps it. */
export function isHeldByProcess(
  lock: { readonly isHeld: boolean; readonly lockedBy: string } | undefined,
): boolean {
  return lock?.isHeld === true && !isKept(lock.lockedBy) && !isHoldOwner(lock.lockedBy);
}

export function isHoldOwner(lockedBy: string): boolean {
  return readHold(lockedBy) !== undefined;
}
