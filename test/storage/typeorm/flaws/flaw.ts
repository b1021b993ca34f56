import type { SchemaFinding } from 'cronlatch/typeorm';

/** A lock table that differs in one thing from that of the migration. */
export interface Flaw {
  /** The phrase in a test's name. */
  readonly flaw: string;
  /** Statements that turn the migration's empty table into this one. */
  readonly changes: readonly string[];
  readonly code: SchemaFinding['code'];
  /** Default: `error`. */
  readonly severity?: SchemaFinding['severity'];
  /** What its message names: the column, and what to do if no statement fixes it. */
  readonly message: RegExp;
  /** `false`: no statement fixes it. */
  readonly isMended?: false;
}

/** A table with a difference that does not matter. */
export interface Variant {
  readonly variant: string;
  readonly changes: readonly string[];
}
