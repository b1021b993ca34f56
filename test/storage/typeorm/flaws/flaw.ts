import type { SchemaFinding } from 'cronlatch/typeorm';

/** A lock table that differs in one thing from that of the migration. */
export interface Flaw {
  /** As a test's name says it. */
  readonly flaw: string;
  /** What makes it out of the table of the migration, which is empty. */
  readonly changes: readonly string[];
  readonly code: SchemaFinding['code'];
  /** Default: `error`. */
  readonly severity?: SchemaFinding['severity'];
  /** What its message names: the column, and what to do where no statement mends it. */
  readonly says: RegExp;
  /** Which connections find it. Default: own. */
  readonly connections?: 'own' | 'shared';
  /** `false`: no statement mends it. */
  readonly isMended?: false;
}

/** A table with a difference that is nobody's concern. */
export interface Variant {
  readonly variant: string;
  readonly changes: readonly string[];
}
