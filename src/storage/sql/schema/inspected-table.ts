/** A table as the database describes it, in words that all dialects share. */
export interface InspectedTable {
  /** Where the table was found. `undefined` if there is no table. */
  readonly schema: string | undefined;
  /** The server's own identity, which does not depend on its address. `undefined` if it has none. */
  readonly server?: string | undefined;
  /** On PostgreSQL: the database that contains the schema. */
  readonly database?: string | undefined;
  /** Whether sessions that set no time zone are in UTC. It matters for columns that are read in that zone. */
  readonly isServerInUtc?: boolean;
  /** A session can override its clock: `SET timestamp`. */
  readonly hasSessionClock?: boolean;
  /** Why a relation of this kind cannot keep rows, regardless of its columns. */
  readonly unsuitable: string | undefined;
  readonly columns: readonly InspectedColumn[];
  readonly indexes: readonly InspectedIndex[];
}

/** An index. It counts as unique only if it covers all rows and whole columns, and compares them byte for byte. */
export interface InspectedIndex {
  readonly name: string;
  readonly columns: readonly string[];
  readonly isUnique: boolean;
}

/** `count`: 32 bits are enough. `document`: a long text, which is never compared. */
export type ColumnUse = 'text' | 'instant' | 'integer' | 'count' | 'document';

export interface InspectedColumn {
  readonly name: string;
  /** The database's name for the type. */
  readonly type: string;
  /** The uses that this type allows. */
  readonly holds: readonly ColumnUse[];
  /** For text: the most characters, if limited. */
  readonly length?: number | undefined;
  /** For text: two values are equal only if their bytes are. */
  readonly comparesBytes?: boolean;
  /** For text: it can store every character. */
  readonly isUnicode?: boolean;
  /** For instants: the fractional digits of the second, if limited. */
  readonly precision?: number | undefined;
  /** For instants: the type has a time zone. Compared with a type that has none, the session's zone decides. */
  readonly hasTimeZone?: boolean;
  /** For instants: written and read in the session's time zone. */
  readonly isInSessionZone?: boolean;
  /** The database generates the next number when a row is inserted. */
  readonly isGenerated?: boolean;
  /** Every update of the row changes it. */
  readonly changesByItself?: boolean;
  /** A unique index on this column alone keeps two rows from having the same value. */
  readonly isUnique: boolean;
  /** Its name, if a statement can name it. */
  readonly uniqueIndex?: string | undefined;
  /** An insert must give it a value. */
  readonly isRequired: boolean;
}

/** The path of the table that was found, with its schema, so that no session resolves the name to another table. */
export function foundPath(path: readonly string[], { schema }: InspectedTable): readonly string[] {
  return schema === undefined ? path : [schema, ...path.slice(-1)];
}

/** The instant with the fewest digits. The database's current time is taken with no more digits than that. */
export function leastPrecise(instants: readonly InspectedColumn[]): InspectedColumn | undefined {
  const digits = ({ precision = Infinity }: InspectedColumn): number => precision;
  return instants.reduce<InspectedColumn | undefined>(
    (least, column) => (least === undefined || digits(column) < digits(least) ? column : least),
    undefined,
  );
}
