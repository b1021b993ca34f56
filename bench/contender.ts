/** One of the compared ways to lock and unlock. */
export interface Contender extends AsyncDisposable {
  /**
   * Locks and unlocks once. Rejects if either did not do its work: a failure is fast, and would be measured
   * as speed.
   */
  pair(): Promise<void>;
}
