/** What the store is asked to write. All times are computed by the store, from these lengths and its own clock. */
export interface LockRequest {
  readonly name: string;
  /** Unique for this acquisition. */
  readonly owner: string;
  readonly lockAtMostForMs: number;
  readonly lockAtLeastForMs: number;
}

/** What an extension asks the store to write. */
export interface ExtensionRequest extends LockRequest {
  /** What the record's owner becomes. Each extension has another, so that a delayed one finds nothing after its successor. */
  readonly nextOwner: string;
}

export interface StatementOptions {
  /** The store must have answered, or given up, after this time. Waiting for a connection counts. */
  readonly timeoutMs: number;
}

export interface Grant {
  /** `undefined` where the store has no tokens. */
  readonly fencingToken: number | undefined;
}

/** A lock's record as it stands. */
export interface LockRecord {
  readonly lockedBy: string;
  /** Whether `lockUntil` lies in the future of the store's clock. */
  readonly held: boolean;
  readonly lockUntil: Date;
  readonly fencingToken: number | undefined;
}

/**
 * A store with a conditional write. Each method is one atomic step, committed when its promise resolves, outside any
 * transaction of the caller. Any of them throws a `LockStorageError` whose `outcome` says what is known; every other
 * error counts as `unknown`.
 */
export interface StorageAccessor {
  /** Each method settles within its time limit by itself, whatever the store does. What does not is not waited for. */
  readonly keepsTimeLimits?: boolean;
  /**
   * The store's clock, or the times in its records, have steps of this length. A lease may then begin that much earlier in
   * the record, so it is trusted for that much less. Default 0.
   */
  readonly clockStepMs?: number | undefined;
  /**
   * Creates the record, held by `owner` until now + `lockAtMostForMs`.
   *
   * @returns `undefined` when there is a record of that name already
   */
  insertRecord(request: LockRequest, options: StatementOptions): Promise<Grant | undefined>;
  /**
   * Takes over the record of that name if its `lockUntil` is not in the future, raising its token.
   *
   * @returns `'held'` when the lock is held, `'missing'` when there is no record, and `undefined` when the store cannot
   *   tell the two apart
   */
  updateRecord(
    request: LockRequest,
    options: StatementOptions,
  ): Promise<Grant | 'held' | 'missing' | undefined>;
  /**
   * Moves `lockUntil` to now + `lockAtMostForMs`, but not before `lockedAt` + `lockAtLeastForMs`, and replaces `owner` by
   * `nextOwner`, if `owner` holds the lock.
   *
   * @returns `false` when it does not
   */
  extend(request: ExtensionRequest, options: StatementOptions): Promise<boolean>;
  /**
   * Moves `lockUntil` to now, but not before `lockedAt` + `lockAtLeastForMs`, and marks the record as released, if
   * `owner` holds the lock.
   *
   * @returns `false` when it does not
   */
  unlock(request: LockRequest, options: StatementOptions): Promise<boolean>;
  /**
   * Reads the record. `'resolve'` settles an unknown outcome: it must see every write that was sent before, so it reads
   * from the primary and waits for writers; `'look'` may be a plain read.
   */
  find(
    name: string,
    options: StatementOptions & { purpose: 'look' | 'resolve' },
  ): Promise<LockRecord | undefined>;
  /** Gives up what the accessor opened by itself. */
  close?(): Promise<void>;
}
