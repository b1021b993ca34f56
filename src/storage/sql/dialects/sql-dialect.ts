import type { Parameters } from '../connections/named-statement';
import type { SqlResult } from '../connections/sql-executor';
import type { DriverError, SqlFailureKind } from '../connections/sql-failure';
import type { InspectedColumn, InspectedTable } from '../schema/inspected-table';
import type { LockColumns, LockTable } from '../schema/lock-table';
import type { ColumnKind, TableDefinition, TableIndex } from '../schema/table-definition';

/** A lock table whose names are quoted: they may stand in a statement. */
export interface QuotedLockTable extends LockColumns {
  readonly table: string;
}

/** What the statements of a lock table depend on. */
export interface LockTableShape {
  /** The database's now in UTC, as precise as the columns keep it. */
  readonly now: string;
  /** The length of the steps of this now, in milliseconds; 0 where it has six digits of the second. */
  readonly clockStepMs: number;
  /** `false`: the four columns of ShedLock for Java. */
  readonly hasToken: boolean;
  /** `false`: to the name column, names can be equal that are not; so what was found is compared again. */
  readonly comparesBytes: boolean;
  /** `false`: the answer to an insert may hold a number that the database has generated instead of the token. */
  readonly insertReturnsToken: boolean;
  /** The sessions are the application's, and one may have set a clock of its own: each statement then sets it back. */
  readonly overridesClock: boolean;
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

/** What the statements of the ledger depend on. */
export interface RunTableShape {
  /** The database's now in UTC, as precise as the columns keep it. */
  readonly now: string;
  /** The unique index on the key, whatever its name. */
  readonly keyIndex: string;
  /** A session of the application may have set a clock of its own: each statement sets it back. */
  readonly overridesClock: boolean;
}

/** The words in which the statements of the ledger differ from dialect to dialect. Those that follow others begin with a blank. */
export interface RunWords {
  /** Whole microseconds since 1970 of an instant. */
  readonly us: (instant: string) => string;
  /** The instant of such a number. */
  readonly at: (parameter: string) => string;
  /** So many microseconds after the database's now. */
  readonly after: (parameter: string) => string;
  /** Equal byte for byte. */
  readonly is: (column: string, parameter: string) => string;
  /** A parameter that is compared with an id. */
  readonly integer: (parameter: string) => string;
  /** Of `:states`, parted by commas. */
  readonly isListedState: string;
  /** Of a JSON array, `:jobs`. */
  readonly isListedJob: string;
  /** After the run table: finds a row by the unique index on its key alone. */
  readonly byKey: string;
  /** After an INSERT: writes nothing if the row exists. */
  readonly orNothing: string;
  /** After a statement that writes: returns its rows. */
  readonly returningId: string;
  readonly forUpdate: string;
  readonly skipLocked: string;
  /** A table with the rows whose column is in the JSON array `:ids`; a further condition follows. */
  readonly listed: (table: string, alias: string, column: string) => string;
  readonly deleteListed: (table: string, alias: string, column: string) => string;
}

export type DialectName = 'mysql' | 'postgres' | 'sqlite';

/** One folder each, with the same files in the same order. */
export interface SqlDialect {
  readonly name: DialectName;
  /** For people. */
  readonly label: string;
  readonly quote: (identifier: string) => string;
  /** @param position counted from 1 */
  readonly placeholder: (position: number) => string;
  readonly columnTypes: ColumnTypes;
  readonly inspection: TableInspection;
  /** The same statement by the server's clock, if the server can override a clock that the session has set. */
  readonly byServerClock?: (text: string) => string;
  readonly lockTexts: (table: QuotedLockTable, shape: LockTableShape) => LockTexts;
  readonly runWords: (shape: RunTableShape) => RunWords;
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

/** The types of columns, and the statements that create and alter them. */
export interface ColumnTypes {
  /** What follows the columns of a new table. */
  readonly tableOptions: (table: TableDefinition) => string;
  readonly type: (kind: ColumnKind) => string;
  /** The type of an instant that exists already, with six digits of the second. */
  readonly preciseInstant: (column: InspectedColumn) => string;
  /** The statement that gives columns a type that holds UTC in every session. */
  readonly withoutTimeZone?: (table: string, columns: readonly string[]) => string;
  /** The statement that gives a column another type; `undefined` if there is none. */
  readonly alter: (
    table: string,
    column: string,
    type: string,
    options: { readonly nullable: boolean },
  ) => string | undefined;
  /** An index as a part of CREATE TABLE, where it can only be made along with the table without harm. */
  readonly inlineIndex?: (index: TableIndex) => string;
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

export interface InspectionQuery {
  readonly text: string;
  readonly parameters: Parameters;
}

export interface TableInspection {
  /** Describes every column of the table; no row if there is no table. */
  readonly columns: (location: TableLocation) => InspectionQuery;
  /** Describes every index of the table, one column a row: see `indexesOf`. */
  readonly indexes: (location: TableLocation) => InspectionQuery;
  readonly read: (rows: SqlResult['rows']) => InspectedTable;
  /** `NAME` and `name` are one column. */
  readonly foldsColumnNames: boolean;
  /** The database's now in UTC, as an expression of the column's type and precision. */
  readonly now: (column: InspectedColumn) => string;
  /** The same in a session that may have a clock of its own: an error if that differs from the server's. */
  readonly checkedNow?: (now: string) => string;
}

export function quotePath(path: readonly string[], { quote }: SqlDialect): string {
  return path.map(quote).join('.');
}

export function quoteLockTable({ path, columns }: LockTable, dialect: SqlDialect): QuotedLockTable {
  const { quote } = dialect;
  return {
    table: quotePath(path, dialect),
    name: quote(columns.name),
    lockUntil: quote(columns.lockUntil),
    lockedAt: quote(columns.lockedAt),
    lockedBy: quote(columns.lockedBy),
    fencingToken: quote(columns.fencingToken),
  };
}
