/** One of the ways of locking and unlocking that are compared. */
export interface Contender extends AsyncDisposable {
  /** Locks and unlocks once. Rejects when either did not do its work: a failure is quick, and would pass for speed. */
  pair(): Promise<void>;
}
