import type { LockRequest } from '../../core';
import type { LockTable } from './lock-table';
import type { DriverError, SqlFailureKind } from './sql-failure';
import type { SqlResult, SqlStatement } from './sql-executor';

/** The statements of one lock table. Every dialect has the same, in the same order. */
export interface LockStatements {
  readonly takeOver: (request: LockRequest) => SqlStatement;
  readonly insert: (request: LockRequest) => SqlStatement;
  readonly extend: (request: LockRequest) => SqlStatement;
  readonly unlock: (request: LockRequest) => SqlStatement;
  /** Both answer locked_by, held (0 or 1), lock_until_us and fencing_token. */
  readonly look: (name: string) => SqlStatement;
  readonly resolve: (name: string) => SqlStatement;
  /** Reads nothing, but fails where the table or a column is missing. */
  readonly probe: () => SqlStatement;
}

export interface SqlDialect {
  readonly name: string;
  /** Quotes each part of a checked table path. */
  readonly quotePath: (path: readonly string[]) => string;
  readonly createLockTable: (table: LockTable) => string;
  readonly lockStatements: (table: LockTable) => LockStatements;
  /** How many rows a statement of this dialect wrote. Anything but a number is for the caller to refuse. */
  readonly writtenRows: (result: SqlResult) => unknown;
  /** The token of a statement that wrote its row. */
  readonly tokenOf: (result: SqlResult) => unknown;
  readonly failureOf: (error: DriverError) => SqlFailureKind;
}

/** Durations travel as whole microseconds. */
export function microseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1000);
}
