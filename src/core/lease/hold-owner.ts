import { isKept, LONGEST_OWNER, RELEASED_MARK } from './owner';

/** The longest owner that leaves room for the mark of a release. */
const LONGEST_HOLD_OWNER = LONGEST_OWNER - RELEASED_MARK.length;
const LONGEST_ACTOR = 64;

/**
 * The time makes it unique for each call. A slash ends the actor, so one within it is `%2F`. Texts that are too long for the
 * record are cut, and a reason becomes one line.
 */
export function newHoldOwner(actor: string, reason: string, since: Date): string {
  const encoded = cut(actor, LONGEST_ACTOR).replaceAll('%', '%25').replaceAll('/', '%2F');
  const [start, end] = [`hold/${encoded}/`, `/${since.toISOString()}`];
  const line = reason.trim().replaceAll(/\s+/g, ' ');
  return `${start}${cut(line, LONGEST_HOLD_OWNER - start.length - end.length)}${end}`;
}

/** A character takes one or two units of a text. */
function cut(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const shortened = text.slice(0, longest - 1);
  return `${shortened.isWellFormed() ? shortened : shortened.slice(0, -1)}…`;
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
