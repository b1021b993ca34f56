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

/** A table as the database describes it, in the words that all dialects share. */
export interface InspectedTable {
  /** Where the table was found. `undefined` if there is no table. */
  readonly schema: string | undefined;
  /** The server as it identifies itself, whatever its address. `undefined` if it does not. */
  readonly server?: string | undefined;
  /** What contains the schema, on PostgreSQL. */
  readonly database?: string | undefined;
  /** The time zone that sessions have unless they set one, for columns that are read in it. */
  readonly isServerInUtc?: boolean;
  /** `SET timestamp` changes what time it is in a session. */
  readonly hasSessionClock?: boolean;
  /** Why a lock cannot be kept in a relation of this kind, whatever its columns. */
  readonly unsuitable: string | undefined;
  readonly columns: readonly InspectedColumn[];
}

/** An index, as far as a unique one can be relied upon: of all rows, and of columns as a whole, compared as they are. */
export interface InspectedIndex {
  readonly name: string;
  readonly columns: readonly string[];
  readonly isUnique: boolean;
}

/** `count`: 32 bits are enough. `document`: a long text, which is never compared. */
export type ColumnUse = 'text' | 'instant' | 'integer' | 'count' | 'document';

export interface InspectedColumn {
  readonly name: string;
  /** As the database calls it. */
  readonly type: string;
  /** What can be kept in it. */
  readonly holds: readonly ColumnUse[];
  /** Of a text: its most characters, where it has a limit. */
  readonly length?: number | undefined;
  /** Of a text: equal means equal byte for byte. */
  readonly comparesBytes?: boolean;
  /** Of a text: it takes every character. */
  readonly isUnicode?: boolean;
  /** Of an instant: the digits of the second, where they are limited. */
  readonly precision?: number | undefined;
  /** Of an instant: that it has one, where instants with and without are compared by way of the session's time zone. */
  readonly hasTimeZone?: boolean;
  /** Of an instant: written and read in the session's time zone. */
  readonly isInSessionZone?: boolean;
  /** The database gives it the next number when a row is inserted. */
  readonly isGenerated?: boolean;
  /** It changes with any update of its row. */
  readonly changesByItself?: boolean;
  /** No two rows have the same value in it alone. */
  readonly isUnique: boolean;
  /** An insert must give it a value. */
  readonly isRequired: boolean;
}
