import type { DriverError, SqlFailureKind } from '../../connections/sql-failure';

export function failureOf({ code, message }: DriverError): SqlFailureKind {
  if (code?.startsWith('SQLITE_BUSY') || code?.startsWith('SQLITE_LOCKED')) return 'contention';
  if (code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY') return 'duplicate';
  if (code?.startsWith('SQLITE_READONLY')) return 'not-the-primary';
  if (/no such table/i.test(message)) return 'missing-table';
  if (/no such column|has no column named|ON CONFLICT clause does not match/i.test(message))
    return 'wrong-shape';
  // A failed statement is undone before it returns. Only after a disk error is the outcome unknown.
  return code?.startsWith('SQLITE_IOERR') ? 'unknown' : 'refused';
}

/** Statements are prepared in the process itself. */
export function refusesPreparing(): boolean {
  return false;
}
