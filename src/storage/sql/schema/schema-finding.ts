/** Something about one of the library's tables that a user should know. */
export interface SchemaFinding {
  /** `error`: cronlatch refuses to use the table. `warning`: the table works, within the limit that the message names. */
  readonly severity: 'error' | 'warning';
  readonly code: SchemaFindingCode;
  /** What was found, why it matters, and what to do. */
  readonly message: string;
  /** The statement that fixes it, if one can. */
  readonly remedy: string | undefined;
}

export type SchemaFindingCode =
  | 'missing-table'
  | 'unsuitable-table'
  | 'missing-column'
  | 'wrong-type'
  | 'statement-log'
  | 'names-not-unique'
  | 'runs-not-unique'
  | 'missing-index'
  | 'unused-columns'
  | 'column-too-short'
  | 'session-time-zone'
  | 'imprecise-time'
  | 'unstable-time'
  | 'column-needs-value'
  | 'inexact-names'
  | 'no-fencing-token';
