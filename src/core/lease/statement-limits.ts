import type { Clock } from '../clock';
import { describeValue } from '../describe-value';
import { withinLimitOr } from '../clock';
import { LockStorageError } from '../errors';
import type { StatementOptions, StorageAccessor } from './storage-accessor';

/** What every statement of a storage-based lock needs. */
export interface StatementContext {
  readonly accessor: StorageAccessor;
  readonly clock: Clock;
  /** Upper bound of a statement's time limit. */
  readonly statementTimeoutMs: number;
  /** Between 0 and 1. */
  readonly random: () => number;
}

/** A third of the lease, so that even a statement that needed all of it, and its settling, leave a third to work with. */
export function statementLimitMs(context: StatementContext, lockAtMostForMs: number): number {
  return Math.min(lockAtMostForMs / 3, context.statementTimeoutMs);
}

/**
 * An accessor keeps the limit by itself, and knows best what became of the statement. One that does not is not waited
 * for: twice as long, or `patienceMs`.
 */
export function sendWithin<T>(
  { clock, accessor }: StatementContext,
  timeoutMs: number,
  statement: (options: StatementOptions) => Promise<T>,
  patienceMs = Infinity,
): Promise<T> {
  if (accessor.keepsTimeLimits) return statement({ timeoutMs });
  const limitMs = Math.min(2 * timeoutMs + 1000, patienceMs);
  const late = (): Error =>
    new LockStorageError(`The store did not answer within ${Math.round(limitMs)} ms.`);
  return withinLimitOr(clock, statement({ timeoutMs }), limitMs, late);
}

/** An accessor may throw anything. What is not a `LockStorageError` says nothing about what ran. */
export function storageErrorOf(error: unknown, name: string): LockStorageError {
  if (error instanceof LockStorageError) return error;
  const why = error instanceof Error ? error.message : describeValue(error);
  return new LockStorageError(`The store failed on lock '${name}': ${why}`, {
    cause: error,
    outcome: 'unknown',
  });
}
