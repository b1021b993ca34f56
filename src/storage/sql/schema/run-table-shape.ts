/** What the statements of the ledger depend on. */
export interface RunTableShape {
  /** The database's now in UTC, as precise as the columns keep it. */
  readonly now: string;
  /** The unique index on the key, whatever its name. */
  readonly keyIndex: string;
  /** A session of the application may have set a clock of its own: each statement sets it back. */
  readonly overridesClock: boolean;
}
