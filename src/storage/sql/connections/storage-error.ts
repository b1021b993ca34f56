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
    return new LockStorageError(`Nothing was sent for ${culprit} to ${address}: ${message}.`, nothingRan);
  }
  if (progress === 'rolled-back') {
    return new LockStorageError(`The statement on ${culprit} did not take effect: ${message}.`, nothingRan);
  }
  const kind = dialect.failureOf(driverError);
  switch (kind) {
    case 'duplicate':
      return new DuplicateRecord();
    case 'contention':
      return new LockStorageError(`Other transactions kept ${culprit} from being written: ${message}.`, {
        ...details,
        outcome: kind,
      });
    case 'unknown':
      return new LockStorageError(`It is not known what became of the statement on ${culprit}: ${message}.`, {
        ...details,
        outcome: kind,
      });
    case 'not-the-primary':
      return new LockStorageError(
        `${address} does not take writes, so it is not the primary (${culprit}): ${message}.`,
        nothingRan,
      );
    case 'missing-table':
      return new SchemaMismatchError(
        `Table '${tableName}' is missing in ${address}: ${context.migration}. (${message})`,
        nothingRan,
      );
    case 'wrong-shape':
      return new SchemaMismatchError(
        `Table '${tableName}' in ${address} does not have the shape that it had (${message}). At the next attempt it is looked at again.`,
        nothingRan,
      );
    case 'refused':
      return new LockStorageError(`${address} refused the statement on ${culprit}: ${message}.`, nothingRan);
  }
}

/** Without full stops and blanks at its end. A regular expression would take time that grows with the square of its blanks. */
function withoutEnd(message: string): string {
  let end = message.length;
  while (end > 0 && /[.\s]/.test(message.charAt(end - 1))) end -= 1;
  return message.slice(0, end);
}
