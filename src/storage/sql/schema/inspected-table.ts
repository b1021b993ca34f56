import type { SqlResult } from '../connections/sql-executor';

/** A table as the database describes it, in words that all dialects share. */
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
  /** Why no row can be kept in a relation of this kind, whatever its columns. */
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

/** Rows of one column of an index each, in its order; of a unique one, they say whether that can be relied upon. */
export function indexesOf(rows: SqlResult['rows']): readonly InspectedIndex[] {
  const names = new Set(rows.map((row) => row['index_name']));
  return [...names].map((name) => {
    const columns = rows.filter((row) => row['index_name'] === name);
    return {
      name: String(name),
      columns: columns.map((column) => String(column['column_name'])),
      isUnique: columns.every((column) => Number(column['is_unique']) === 1),
    };
  });
}

/** The path of the table that was found: no session then looks for another one. */
export function foundPath(path: readonly string[], { schema }: InspectedTable): readonly string[] {
  return schema === undefined ? path : [schema, ...path.slice(-1)];
}

/** Of several instants. The database's now is taken only as precisely as this one can keep it. */
export function leastPrecise(instants: readonly InspectedColumn[]): InspectedColumn | undefined {
  const digits = ({ precision = Infinity }: InspectedColumn): number => precision;
  return instants.reduce<InspectedColumn | undefined>(
    (least, column) => (least === undefined || digits(column) < digits(least) ? column : least),
    undefined,
  );
}
