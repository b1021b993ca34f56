import { LockStorageError, SchemaMismatchError } from '../../../core';
import type { SqlDialect } from '../dialects/sql-dialect';
import { SqlExecutionError } from './sql-executor';
import { driverErrorOf } from './sql-failure';

export interface FailureContext {
  readonly dialect: SqlDialect;
  /** Names the database, without credentials. */
  readonly address: string;
  /** Takes secrets out of a driver's message. */
  readonly redact: (message: string) => string;
  /** The table that the statement needs first. */
  readonly tableName: string;
  /** What to do where the table is missing. */
  readonly migration: string;
  /** What the statement was about, if not the table as such: `lock 'job'`. */
  readonly subject: string | undefined;
}

/** Not a failure: somebody else inserted the record first. Never leaves this folder. */
export class DuplicateRecord extends Error {}

/** Never passes the driver's error on as it is: it may hold values, or the statement with its values. */
export function translateDriverError(error: unknown, context: FailureContext): Error {
  const { dialect, address, tableName, subject: culprit = `table '${tableName}'` } = context;
  const driverError = driverErrorOf(error instanceof SqlExecutionError ? (error.cause ?? error) : error);
  const message = withoutEnd(context.redact(driverError.message));
  const cause = Object.assign(new Error(message), { code: driverError.code, errno: driverError.errno });
  const details = { cause, driverCode: driverError.code };
  const nothingRan = { ...details, outcome: 'nothing-ran' } as const;
  const progress = error instanceof SqlExecutionError ? error.progress : 'sent';
  if (progress === 'not-sent') {
    return new LockStorageError(
      `Could not send the statement for ${culprit} to ${address}: ${message}.`,
      nothingRan,
    );
  }
  if (progress === 'rolled-back') {
    return new LockStorageError(`The statement for ${culprit} did not take effect: ${message}.`, nothingRan);
  }
  const kind = dialect.failureOf(driverError);
  switch (kind) {
    case 'duplicate':
      return new DuplicateRecord();
    case 'contention':
      return new LockStorageError(`Other transactions blocked the statement for ${culprit}: ${message}.`, {
        ...details,
        outcome: kind,
      });
    case 'unknown':
      return new LockStorageError(`The outcome of the statement for ${culprit} is unknown: ${message}.`, {
        ...details,
        outcome: kind,
      });
    case 'not-the-primary':
      return new LockStorageError(
        `Could not write ${culprit} because ${address} is read-only: ${message}. Connect to the primary, or allow writes.`,
        nothingRan,
      );
    case 'missing-table':
      return new SchemaMismatchError(
        `Table '${tableName}' in ${address} is missing: ${message}. ${context.migration}.`,
        nothingRan,
      );
    case 'wrong-shape':
      return new SchemaMismatchError(
        `Table '${tableName}' in ${address} has changed since it was last verified: ${message}. The next attempt verifies it again.`,
        nothingRan,
      );
    case 'refused':
      return new LockStorageError(
        `${address} rejected the statement for ${culprit}: ${message}.`,
        nothingRan,
      );
  }
}

/** Without full stops and blanks at its end. A regular expression would take time that grows with the square of its blanks. */
function withoutEnd(message: string): string {
  let end = message.length;
  while (end > 0 && /[.\s]/.test(message.charAt(end - 1))) end -= 1;
  return message.slice(0, end);
}
