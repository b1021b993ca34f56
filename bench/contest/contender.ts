/** One of the compared ways to do the same work. */
export interface Contender extends AsyncDisposable {
  /**
   * Does the work once, for example locks and unlocks. Rejects if it was not done: a failure is fast, and would be
   * measured as speed.
   *
   * @param worker counted from 0. Each worker calls it again and again, one call at a time.
   */
  perform(worker: number): Promise<void>;
}

/** A row of a table. */
export interface Entry {
  readonly name: string;
  readonly open: () => Promise<Contender>;
  readonly goal?: Goal | undefined;
}

export interface Goal {
  /** The smallest intended ratio to the baseline. */
  readonly ratio: number;
}
