import { InvalidLockUseError } from '../../core';
import { describeValue } from '../../core/describe-value';
import type { Slot } from '../../guard/slots';

/** `2026-11-20T03:00:00.000Z` */
const INSTANT_LENGTH = 24;

/**
 * What node-cron asks its coordinator for: the task's name and the instant that was meant. A name may have colons.
 *
 * @throws InvalidLockUseError for what is no such key
 */
export function slotOfKey(key: string): Slot {
  const at = new Date(key.slice(-INSTANT_LENGTH));
  const job = key.slice(0, -INSTANT_LENGTH - 1);
  if (!Number.isNaN(at.getTime()) && key === `${job}:${at.toISOString()}`) return { job, at };
  throw new InvalidLockUseError(
    `${describeValue(key)} is no key of node-cron's, which are a task's name, a colon and an instant.`,
  );
}
