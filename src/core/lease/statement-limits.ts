import type { Clock } from '../clock';
import { describeValue } from '../describe-value';
import { withinLimitOr } from '../clock';
import { LockStorageError } from '../errors';
import type { StatementOptions, StorageAccessor } from './storage-accessor';

/** The context of every statement of a storage-based lock. */
export interface StatementContext {
  readonly accessor: StorageAccessor;
  readonly clock: Clock;
  /** The longest time limit of a statement. */
  readonly statementTimeoutMs: number;
  /** Between 0 and 1. */
  readonly random: () => number;
}

/**
 * A third of the lease. Even if a statement and the read that settles it each need all of it, the job keeps a third.
 */
export function statementLimitMs(context: StatementContext, lockAtMostForMs: number): number {
  return Math.min(lockAtMostForMs / 3, context.statementTimeoutMs);
}

/**
 * An accessor with `keepsTimeLimits` enforces the limit itself, because it knows best whether a statement ran. For
 * any other, cronlatch stops waiting after twice the limit and a second, or after `waitAtMostMs`.
 */
export function sendWithin<T>(
  { clock, accessor }: StatementContext,
  timeoutMs: number,
  statement: (options: StatementOptions) => Promise<T>,
  waitAtMostMs = Infinity,
): Promise<T> {
  if (accessor.keepsTimeLimits) return statement({ timeoutMs });
  const limitMs = Math.min(2 * timeoutMs + 1000, waitAtMostMs);
  const timeoutError = (): Error =>
    new LockStorageError(`The store did not answer within ${Math.round(limitMs)} ms.`);
  return withinLimitOr(clock, statement({ timeoutMs }), limitMs, timeoutError);
}

/** An accessor may throw anything. Any error but a `LockStorageError` leaves the outcome unknown. */
export function storageErrorOf(error: unknown, name: string): LockStorageError {
  if (error instanceof LockStorageError) return error;
  const why = error instanceof Error ? error.message : describeValue(error);
  return new LockStorageError(`The store failed on lock '${name}': ${why}`, {
    cause: error,
    outcome: 'unknown',
  });
}
