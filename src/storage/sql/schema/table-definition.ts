/** One of the library's tables as its migration creates it. */
export interface TableDefinition {
  /** One part, or schema and table: plain identifiers, still unquoted. */
  readonly path: readonly string[];
  /** What a row stands for, used in messages. */
  readonly row: 'lock' | 'run' | 'job' | 'act';
  readonly columns: readonly TableColumn[];
  /** The column that is the primary key. Without one, an id numbers the rows. */
  readonly primaryKey?: string | undefined;
  readonly indexes: readonly TableIndex[];
  /** What to do if the table is missing, as the user has to write it. */
  readonly remedy: string;
}

export interface TableColumn {
  /** Its name in entities and in the code: `lockUntil`. */
  readonly property: string;
  readonly name: string;
  readonly kind: ColumnKind;
  readonly nullable: boolean;
  /** The value of an insert that leaves the column out. */
  readonly default?: 0 | '' | undefined;
  /** It identifies rows, so two different values must never compare as equal. */
  readonly isKey?: boolean;
  /** The characters that it must have room for, if not its own length. */
  readonly room?: { readonly characters: number; readonly because: string };
  readonly tolerates?: readonly ColumnTolerance[];
}

/** What a column is for; each dialect has a type for it. */
export type ColumnKind =
  /** Numbers the rows. */
  | { readonly is: 'id' }
  /** Compared byte for byte. Of a `word` only ASCII. */
  | { readonly is: 'text' | 'word'; readonly length: number }
  /** Never compared. */
  | { readonly is: 'note' | 'document'; readonly length: number }
  | { readonly is: 'count' | 'integer' | 'instant' };

/** How a column may differ from the migration's, because ShedLock for Java or an older schema created it. */
export type ColumnTolerance =
  /** The table works without it. */
  | 'absence'
  /** It compares different texts as equal. cronlatch compares the rows that it finds again. */
  | 'folding'
  /** It holds only ASCII, so its character set does not matter. */
  | 'any-charset'
  /** An instant without a time zone, or in that of the session: our own sessions are in UTC. */
  | 'any-time-zone'
  /** It changes with every update. Every update writes it anyway. */
  | 'changes';

export interface TableIndex {
  readonly name: string;
  readonly columns: readonly string[];
  readonly isUnique: boolean;
}
