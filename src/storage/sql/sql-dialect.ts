import type { RunQuery } from '../../ledger/run-store';
import type { LockColumns, LockTable } from './schema/lock-table';
import type {
  InspectedColumn,
  InspectedIndex,
  InspectedTable,
  LockTableShape,
} from './schema/lock-table-shape';
import type { Parameters } from './connections/named-statement';
import type { RunColumnKind, RunIndex } from './schema/run-columns';
import type { RunTables } from './schema/run-table';
import type { RunTableShape } from './schema/run-table-shape';
import type { SqlResult } from './connections/sql-executor';
import type { DriverError, SqlFailureKind } from './connections/sql-failure';

/** A lock table whose names are quoted: they may stand in a statement. */
export interface QuotedLockTable extends LockColumns {
  readonly table: string;
}

/**
 * The statements of one lock table. Every dialect has the same, in the same order. Parameters: `:name`, `:owner`, for
 * `extend` also `:nextOwner`, and in microseconds `:atMost` and `:atLeast`.
 */
export interface LockTexts {
  readonly takeOver: string;
  readonly insert: string;
  readonly extend: string;
  readonly unlock: string;
  /** Both answer name, locked_by, held (0 or 1), lock_until_us and fencing_token. */
  readonly look: string;
  readonly resolve: string;
}

/** The ledger's tables, quoted: they may stand in a statement. Their columns need no quotes. */
export interface QuotedRunTables {
  readonly run: string;
  readonly event: string;
}

/**
 * The statements of one ledger. Every dialect has the same, in the same order, with the same parameters: instants and
 * lengths of time in microseconds, `null` where there is none.
 */
export interface RunTexts {
  /** Answers a row for each run, or one without a run, each with now_us and first_us. */
  readonly peek: string;
  /** Of a JSON array of names, `:jobs`. */
  readonly owed: string;
  /** What counts from now: `:dueAfter`, `:leaseFor` and `:startedAfter`. */
  readonly insert: string;
  /** Waits for writers, and answers now_us, too. */
  readonly lock: string;
  readonly write: string;
  readonly insertEvent: string;
  readonly complete: string;
  /** To be followed by conditions, an order and a limit. */
  readonly find: string;
  readonly findBy: Readonly<Record<RunCondition, string>>;
  readonly events: string;
  /**
   * The next 1,000 runs below an id, the highest id first. `undated`: it has no period. `deletable`: it is over for longer
   * than `-:before`, and a later period of its job and scope has a run.
   */
  readonly purgeable: string;
  /** Locks the runs from `:lowest` to `:highest`, by id, that are over for that long. It skips what others have locked. */
  readonly lockPurgeable: string;
  /** Marks the first run behind `:ids` of each of their jobs and scopes. Without such a run, the statement must fail. */
  readonly markPurged: string;
  /** Both of a JSON array, `:ids`. */
  readonly deleteEvents: string;
  readonly deleteRuns: string;
}

export type RunCondition = Exclude<keyof RunQuery, 'order' | 'limit'>;

export type DialectName = 'mysql' | 'postgres' | 'sqlite';

/** One folder each, with the same files in the same order. */
export interface SqlDialect {
  readonly name: DialectName;
  /** For people. */
  readonly label: string;
  readonly quote: (identifier: string) => string;
  /** @param position counted from 1 */
  readonly placeholder: (position: number) => string;
  readonly lockColumns: LockColumnTypes;
  readonly inspection: LockTableInspection;
  /** The same statement by the server's clock, if the server can override a clock that the session has set. */
  readonly byServerClock?: (text: string) => string;
  readonly lockTexts: (table: QuotedLockTable, shape: LockTableShape) => LockTexts;
  readonly runColumns: RunColumnTypes;
  readonly indexInspection: IndexInspection;
  readonly runTexts: (tables: QuotedRunTables, shape: RunTableShape) => RunTexts;
  /** How many rows a statement of this dialect wrote. Anything but a number is for the caller to refuse. */
  readonly writtenRows: (result: SqlResult) => unknown;
  /** Why a take-over wrote no row; `undefined` where the dialect cannot tell without a further statement. */
  readonly refusalOf: (result: SqlResult) => 'held' | 'missing' | undefined;
  /** The token of a statement that wrote its row. */
  readonly tokenOf: (result: SqlResult) => unknown;
  readonly failureOf: (error: DriverError) => SqlFailureKind;
  /** The server, or a pooler before it, does not do with a prepared statement; it did not run. */
  readonly refusesPreparing: (error: DriverError) => boolean;
}

export interface LockColumnTypes {
  /** What stands behind the columns of a new table. */
  readonly tableOptions: string;
  /** The type of each column as the library makes it. */
  readonly types: (nameLength: number) => LockColumns;
  /** The type of an instant that is there already, with six digits of the second. */
  readonly preciseInstant: (column: InspectedColumn) => string;
  /** The statement that gives both instants a type that holds UTC in every session. */
  readonly withoutTimeZone?: (table: QuotedLockTable) => string;
  /** The statement that gives a column another type; `undefined` where there is none. */
  readonly alter: (
    table: string,
    column: string,
    type: string,
    options?: { readonly nullable: boolean },
  ) => string | undefined;
}

export interface RunColumnTypes {
  /** What stands behind the columns of a new table. */
  readonly tableOptions: string;
  readonly type: (kind: RunColumnKind) => string;
  /** An index as a part of CREATE TABLE, where it can only be made along with the table without harm. */
  readonly inlineIndex?: (index: RunIndex) => string;
  readonly createIndex: (index: {
    readonly path: readonly string[];
    readonly name: string;
    /** `UNIQUE `, or nothing. */
    readonly unique: string;
    readonly columns: string;
  }) => string;
}

/** Where a table is looked for. */
export interface TableLocation {
  /** One part, or schema and table. */
  readonly path: readonly string[];
  /** The database that the connections begin in, whatever a session has changed to since. */
  readonly database: string | undefined;
}

export interface IndexInspection {
  /** One statement that describes every index of the table. */
  readonly statement: (location: TableLocation) => { text: string; parameters: Parameters };
  readonly read: (rows: SqlResult['rows']) => readonly InspectedIndex[];
}

export interface LockTableInspection {
  /** One statement that describes every column of the table; no row where there is no table. */
  readonly statement: (location: TableLocation) => { text: string; parameters: Parameters };
  readonly read: (rows: SqlResult['rows']) => InspectedTable;
  /** `NAME` and `name` are one column. */
  readonly foldsColumnNames: boolean;
  /** The database's now in UTC, as an expression of the column's type and precision. */
  readonly now: (column: InspectedColumn) => string;
  /** The same in a session that may have a clock of its own: an error if that differs from the server's. */
  readonly checkedNow?: (now: string) => string;
}

/** The path of the table that was found: no session then looks for another one. */
export function foundPath(path: readonly string[], { schema }: InspectedTable): readonly string[] {
  return schema === undefined ? path : [schema, ...path.slice(-1)];
}

export function quoteRunTables({ run, event }: RunTables, { quote }: SqlDialect): QuotedRunTables {
  return { run: run.map(quote).join('.'), event: event.map(quote).join('.') };
}

export function quoteLockTable({ path, columns }: LockTable, { quote }: SqlDialect): QuotedLockTable {
  return {
    table: path.map(quote).join('.'),
    name: quote(columns.name),
    lockUntil: quote(columns.lockUntil),
    lockedAt: quote(columns.lockedAt),
    lockedBy: quote(columns.lockedBy),
    fencingToken: quote(columns.fencingToken),
  };
}
