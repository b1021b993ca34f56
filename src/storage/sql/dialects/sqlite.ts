import type { DriverError, SqlFailureKind } from '../statements/sql-failure';
import type { SqlDialect } from './sql-dialect';
import { columnTypes, inspection } from './sqlite/tables';
import { lockTexts } from './sqlite/lock-texts';
import { runFragments } from './sqlite/run-fragments';

/** SQLite 3.42 and later. */
export const sqlite: SqlDialect = {
  name: 'sqlite',
  label: 'SQLite',
  quote: (identifier) => `"${identifier.replaceAll('"', '""')}"`,
  placeholder: () => '?',
  columnTypes,
  inspection,
  lockTexts,
  runFragments,
  returnsRows: true,
  refusalOf: () => undefined,
  failureOf,
  refusesPreparing: () => false, // Statements are prepared in the process itself.
};

function failureOf({ code, message }: DriverError): SqlFailureKind {
  if (code?.startsWith('SQLITE_BUSY') || code?.startsWith('SQLITE_LOCKED')) return 'contention';
  if (code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY') return 'duplicate';
  if (code?.startsWith('SQLITE_READONLY')) return 'not-the-primary';
  if (/no such table/i.test(message)) return 'missing-table';
  if (/no such column|has no column named|ON CONFLICT clause does not match/i.test(message))
    return 'wrong-shape';
  // A failed statement is undone before it returns. Only after a disk error is the outcome unknown.
  return code?.startsWith('SQLITE_IOERR') ? 'unknown' : 'refused';
}
