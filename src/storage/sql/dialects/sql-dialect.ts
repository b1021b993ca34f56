import type { NamedStatement, SqlResult, SqlStatement } from '../statements/statement';
import type { DriverError, SqlFailureKind } from '../statements/sql-failure';
import type { InspectedColumn, TableInspection } from '../schema/inspected-table';
import type { ColumnKind, TableDefinition, TableIndex } from '../schema/table-definition';
import type { LockColumns } from '../schema/table-options';

/** A lock table with quoted names, ready for a statement. */
export interface QuotedLockTable extends LockColumns {
  readonly table: string;
}

/** What the statements of any table depend on. */
export interface TableShape {
  /** An expression of the database's current time in UTC, with as many digits as the columns have. */
  readonly now: string;
  /** The unique index on the key of the rows, if a statement can name it. */
  readonly keyIndex?: string | undefined;
}

export interface LockTableShape extends TableShape {
  /** The step of that time in milliseconds. 0: it has six digits of the second. */
  readonly clockStepMs: number;
  /** `false`: the four columns of ShedLock for Java. */
  readonly hasToken: boolean;
  /** `false`: the name column can compare different names as equal, so each row found is compared again. */
  readonly comparesBytes: boolean;
  /** `false`: the answer to an insert may hold a generated number instead of the token. */
  readonly insertReturnsToken: boolean;
}

/**
 * The statements of one lock table. Every dialect has the same, in the same order. Parameters: `:name`, `:owner`, for
 * `extend` also `:nextOwner`, and in microseconds `:atMost`, `:atLeast` and `:olderThan`.
 */
export interface LockTexts {
  readonly takeOver: string;
  readonly insert: string;
  readonly extend: string;
  readonly unlock: string;
  readonly deleteRecord: string;
  /** Deletes at most 1000 rows. */
  readonly deleteExpired: string;
  /** Reads name, locked_by, held (0 or 1), lock_until_us, locked_at_us and fencing_token. A condition must follow. */
  readonly records: string;
}

/** The parameters of a statement that writes a lock. Durations are in microseconds. */
export type LockParameters = {
  readonly name: string;
  readonly owner: string;
  /** Written by an extension and by a release. */
  readonly nextOwner: string;
  readonly atMost: number;
  readonly atLeast: number;
};

/** `insertFree` creates missing rows, in the order of the members, and leaves their locks free. */
export type GroupedWrite = 'takeOver' | 'insertFree' | 'extend' | 'unlock';

/**
 * The statements of `LockTexts` for a group of locks, which do to each lock what they do to a single one. They lock rows in the
 * order of their names, so that processes that lock the same rows do not block each other for good.
 */
export interface GroupStatements {
  readonly write: (key: GroupedWrite, members: readonly LockParameters[]) => SqlStatement;
  /** Returns the rows after a write, from the primary. `undefined`: the answer to each write holds them. */
  readonly read?: (members: readonly LockParameters[]) => SqlStatement;
}

/** The parts of the ledger's statements that differ between dialects. A part that is optional begins with a blank. */
export interface RunFragments {
  /** Converts an instant to whole microseconds since 1970. */
  readonly us: (instant: string) => string;
  /** Converts such a number to an instant. */
  readonly at: (parameter: string) => string;
  /** The database's current time plus so many microseconds. */
  readonly after: (parameter: string) => string;
  /** Equal byte for byte. */
  readonly is: (column: string, parameter: string) => string;
  /** A parameter that is compared with an id. */
  readonly integer: (parameter: string) => string;
  /** The job is one of the JSON array `:jobs`. */
  readonly isListedJob: string;
  /** Each job and scope of the run table once, read by an index, with the columns `job_name` and `scope`. */
  readonly subjects: (table: string) => string;
  /** A query of a FROM clause that is executed once, however the database joins its rows. */
  readonly executedOnce: (query: string) => string;
  /** After the run table: makes the database find a row only by the unique index on its key. */
  readonly byKey: string;
  /** After an INSERT: writes nothing if there is a row with this key. */
  readonly orNothing: (key: string) => string;
  /** After a statement that writes: returns its rows. */
  readonly returningId: string;
  readonly forUpdate: string;
  readonly skipLocked: string;
  /** The objects of a JSON array as a table `j`. Its columns are their properties, `null` if an object lacks one. */
  readonly elements: (parameter: string, columns: Readonly<Record<string, 'text' | 'integer'>>) => string;
  /** After an INSERT … SELECT: begins the assignments for a row that exists. */
  readonly onDuplicate: (key: string) => string;
  /** The value that the INSERT would write. */
  readonly proposed: (column: string) => string;
  /** Updates the rows of a table `r` that match those of `elements`. A further condition must follow. */
  readonly updateMatched: (table: string, elements: string, on: string, assignments: string) => string;
  /** The rows of a table whose column is in the JSON array `:ids`. A further condition must follow. */
  readonly listed: (table: string, alias: string, column: string) => string;
  readonly deleteListed: (table: string, alias: string, column: string) => string;
}

export type DialectName = 'mysql' | 'postgres' | 'sqlite';

/** One folder each, with the same files in the same order. */
export interface SqlDialect {
  readonly name: DialectName;
  readonly label: string;
  readonly quote: (identifier: string) => string;
  /** @param position counted from 1 */
  readonly placeholder: (position: number) => string;
  readonly columnTypes: ColumnTypes;
  readonly inspection: TableInspection;
  readonly lockTexts: (table: QuotedLockTable, shape: LockTableShape) => LockTexts;
  /** `undefined`: a group of locks cannot be faster than its locks one by one, or the table is not suited. */
  readonly groupStatements?: (
    table: QuotedLockTable,
    shape: LockTableShape,
    named: (text: string) => NamedStatement,
  ) => GroupStatements | undefined;
  readonly runFragments: (shape: TableShape) => RunFragments;
  /** Whether each statement that writes returns its rows. Otherwise the driver counts them, and `insertId` is the token. */
  readonly returnsRows: boolean;
  /** Why a take-over wrote no row. `undefined`: a read shows it. */
  readonly refusalOf: (result: SqlResult) => 'held' | 'missing' | undefined;
  readonly failureOf: (error: DriverError) => SqlFailureKind;
  /** Whether the server or a pooler refused a prepared statement. It did not run. */
  readonly refusesPreparing: (error: DriverError) => boolean;
}

export interface ColumnTypes {
  /** What follows the columns of a new table. */
  readonly tableOptions: (table: TableDefinition) => string;
  readonly type: (kind: ColumnKind) => string;
  /** The type of an instant that exists already, with six digits of the second. */
  readonly preciseInstant: (column: InspectedColumn) => string;
  /** The statement that gives columns a type that holds UTC in every session. */
  readonly withoutTimeZone?: (table: string, columns: readonly string[]) => string;
  /** The statement that gives a column another type; `undefined` if there is none. */
  readonly alter: (table: string, column: string, type: string, nullable: boolean) => string | undefined;
  /** An index as a part of CREATE TABLE, for a dialect that cannot create one only if it is missing. */
  readonly inlineIndex?: (index: TableIndex) => string;
  /** Moves the sequence of the ids if a restore or a replication has left it behind the rows. `select`: only finds it. */
  readonly sequenceFix?: (table: readonly string[], select?: string) => string;
  /** Also the fix for a table that lacks the index. */
  readonly createIndex: (table: readonly string[], index: TableIndex) => string;
}

export function quotePath(path: readonly string[], { quote }: SqlDialect): string {
  return path.map(quote).join('.');
}

export function quoteLockTable({ path, columns }: TableDefinition, dialect: SqlDialect): QuotedLockTable {
  const names = columns.map(({ property, name }) => [property, dialect.quote(name)] as const);
  return {
    table: quotePath(path, dialect),
    ...(Object.fromEntries(names) as Record<keyof LockColumns, string>),
  };
}
