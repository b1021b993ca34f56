/** What the statements of a lock table depend on. */
export interface LockTableShape {
  /** The database's now in UTC, as precise as the columns keep it. */
  readonly now: string;
  /** `false`: the four columns of ShedLock for Java. */
  readonly hasToken: boolean;
  /** `false`: to the name column, names can be equal that are not; so what was found is compared again. */
  readonly comparesBytes: boolean;
}

/** A table as the database describes it, in the words that all dialects share. */
export interface InspectedTable {
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
  /** It changes with any update of its row. */
  readonly changesByItself?: boolean;
  /** No two rows have the same value in it alone. */
  readonly isUnique: boolean;
  /** An insert must give it a value. */
  readonly isRequired: boolean;
}
