import type { LockTable } from './lock-table';
import { quoteLockTable, type SqlDialect } from '../sql-dialect';

/** The statement that makes the table; it does nothing where there is one. */
export function createLockTable(table: LockTable, dialect: SqlDialect): string {
  const quoted = quoteLockTable(table, dialect);
  const { types, tableOptions } = dialect.lockColumns;
  const type = types(table.nameLength);
  return `
    CREATE TABLE IF NOT EXISTS ${quoted.table} (
      ${quoted.name} ${type.name} NOT NULL,
      ${quoted.lockUntil} ${type.lockUntil} NOT NULL,
      ${quoted.lockedAt} ${type.lockedAt} NOT NULL,
      ${quoted.lockedBy} ${type.lockedBy} NOT NULL,
      ${quoted.fencingToken} ${type.fencingToken} NOT NULL DEFAULT 0,
      PRIMARY KEY (${quoted.name})
    )${tableOptions}`;
}
