import { LockStorageError, SchemaMismatchError, type StorageOutcome } from '../../../core';
import { describeFailedConnection, remedyOf, type ConnectionContext } from './failed-connection';
import { SqlExecutionError } from './statement';

/** The kinds of driver errors that all dialects share. */
export type SqlFailureKind =
  'duplicate' | 'contention' | 'unknown' | 'refused' | 'not-the-primary' | 'missing-table' | 'wrong-shape';

/** After these errors the connection can be used again. After any other it is closed. */
export const HARMLESS: ReadonlySet<SqlFailureKind> = new Set([
  'duplicate',
  'contention',
  'missing-table',
  'wrong-shape',
]);

export interface DriverError {
  readonly code: string | undefined;
  readonly errno: number | undefined;
  readonly message: string;
}

export function driverErrorOf(error: unknown): DriverError {
  const fields = typeof error === 'object' && error !== null ? error : {};
  const { code, errno } = fields as { readonly code?: unknown; readonly errno?: unknown };
  return {
    code: typeof code === 'string' ? code : undefined,
    errno: typeof errno === 'number' ? errno : undefined,
    message: messageOf(error),
  };
}

/** If Node cannot connect to any address of a host, only the inner errors have messages. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join(', ');
  const message = (error as Partial<Error> | null | undefined)?.message;
  return typeof message === 'string' ? message : String(error);
}

/** Node's codes for a connection that was never established. */
export const NEVER_SENT: ReadonlySet<string> = new Set(
  'ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH ENOENT EACCES'.split(' '),
);

/** Not a failure: another process inserted the record first. It is never thrown to the application. */
export class DuplicateRecord extends Error {}

/** For `catch` of an insert: another process has inserted the record, and may hold its row. It throws any other error. */
export function noneIfInserted(error: unknown): undefined {
  const isContended = error instanceof LockStorageError && error.outcome === 'contention';
  if (!isContended && !(error instanceof DuplicateRecord)) throw error;
}

/** Never exposes the driver's error itself, because it may contain values of the statement. */
export function translateDriverError(
  error: unknown,
  context: ConnectionContext & {
    readonly dialect: { readonly failureOf: (error: DriverError) => SqlFailureKind };
    readonly redact: (message: string) => string;
    /** The table that the statement needs first. */
    readonly tableName: string;
    /** What to do if the table is missing. */
    readonly remedy: string;
    /** What the statement is about, such as `lock 'job'`. Default: the table. */
    readonly subject: string | undefined;
  },
): Error {
  const { dialect, address, tableName, subject = `table '${tableName}'` } = context;
  const driverError = driverErrorOf(error instanceof SqlExecutionError ? (error.cause ?? error) : error);
  const message = withoutTrailingStops(context.redact(driverError.message));
  const cause = Object.assign(new Error(message), { code: driverError.code, errno: driverError.errno });
  const details = { cause, driverCode: driverError.code };
  const nothingRan = { ...details, outcome: 'nothing-ran' } as const;
  const failed = (text: string, outcome: StorageOutcome = 'nothing-ran'): LockStorageError =>
    new LockStorageError(text, { ...details, outcome });
  const progress = error instanceof SqlExecutionError ? error.progress : 'sent';
  if (progress === 'not-sent' && (error as Error).cause !== undefined)
    return failed(describeFailedConnection({ ...driverError, message }, context));
  if (progress === 'not-sent')
    return failed(`Could not send the statement for ${subject} to ${address}: ${message}.`);
  if (progress === 'rolled-back')
    return failed(`The statement for ${subject} did not take effect: ${message}.`);
  // Only the driver's own error can show that a statement that was sent did nothing.
  const isDriverError = !(error instanceof SqlExecutionError) || error.cause !== undefined;
  const kind = isDriverError ? dialect.failureOf(driverError) : 'unknown';
  switch (kind) {
    case 'duplicate':
      return new DuplicateRecord();
    case 'contention':
      return failed(`Other transactions blocked the statement for ${subject}: ${message}.`, kind);
    case 'unknown':
      return failed(`The outcome of the statement for ${subject} is unknown: ${message}.`, kind);
    case 'not-the-primary':
      return failed(
        `Could not write ${subject} because ${address} is read-only: ${message}. Connect to the primary, or allow writes.`,
      );
    case 'missing-table':
      return new SchemaMismatchError(
        `Table '${tableName}' in ${address} is missing: ${message}.${remedyOf(driverError, context.user) || ` ${context.remedy}.`}`,
        nothingRan,
      );
    case 'wrong-shape':
      return new SchemaMismatchError(
        `Table '${tableName}' in ${address} has changed since it was last verified: ${message}. The next attempt verifies it again.`,
        nothingRan,
      );
    case 'refused':
      return failed(
        `${address} rejected the statement for ${subject}: ${message}.${remedyOf({ ...driverError, message }, context.user)}`,
      );
  }
}

/** Removes full stops and blanks at the end. A regular expression would take time quadratic in the number of blanks. */
function withoutTrailingStops(message: string): string {
  let end = message.length;
  while (end > 0 && /[.\s]/.test(message.charAt(end - 1))) end -= 1;
  return message.slice(0, end);
}
