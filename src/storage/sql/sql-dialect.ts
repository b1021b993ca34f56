import type { LockColumns, LockTable } from './lock-table';
import type { SqlResult } from './sql-executor';
import type { DriverError, SqlFailureKind } from './sql-failure';

/** A lock table whose names are quoted: they may stand in a statement. */
export interface QuotedLockTable extends LockColumns {
  readonly table: string;
  /** Not quoted: the width of the name column. */
  readonly nameLength: number;
}

/**
 * The statements of one lock table. Every dialect has the same, in the same order. Parameters: `:name`, `:owner`, and
 * in microseconds `:atMost` and `:atLeast`.
 */
export interface LockTexts {
  readonly takeOver: string;
  readonly insert: string;
  readonly extend: string;
  readonly unlock: string;
  /** Both answer locked_by, held (0 or 1), lock_until_us and fencing_token. */
  readonly look: string;
  readonly resolve: string;
  /** Reads nothing, but fails where the table or a column is missing. */
  readonly probe: string;
}

export interface SqlDialect {
  readonly name: string;
  readonly quote: (identifier: string) => string;
  /** @param position counted from 1 */
  readonly placeholder: (position: number) => string;
  readonly createLockTable: (table: QuotedLockTable) => string;
  readonly lockTexts: (table: QuotedLockTable) => LockTexts;
  /** How many rows a statement of this dialect wrote. Anything but a number is for the caller to refuse. */
  readonly writtenRows: (result: SqlResult) => unknown;
  /** The token of a statement that wrote its row. */
  readonly tokenOf: (result: SqlResult) => unknown;
  readonly failureOf: (error: DriverError) => SqlFailureKind;
}

export function quoteLockTable(
  { path, columns, nameLength }: LockTable,
  { quote }: SqlDialect,
): QuotedLockTable {
  return {
    table: path.map(quote).join('.'),
    name: quote(columns.name),
    lockUntil: quote(columns.lockUntil),
    lockedAt: quote(columns.lockedAt),
    lockedBy: quote(columns.lockedBy),
    fencingToken: quote(columns.fencingToken),
    nameLength,
  };
}
