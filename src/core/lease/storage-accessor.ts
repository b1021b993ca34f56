import type { Clock } from '../clock';
import type { LockPage, LockState } from '../lock';

/** A request to write a lock's record. The store computes all times, from these lengths and its own clock. */
export interface LockRequest {
  readonly name: string;
  /** Unique for this acquisition. */
  readonly owner: string;
  readonly lockAtMostForMs: number;
  readonly lockAtLeastForMs: number;
}

export interface ExtensionRequest extends LockRequest {
  /** The new owner in the record, another one per extension, so that a delayed extension matches nothing. */
  readonly nextOwner: string;
}

export interface StatementOptions {
  /** By the end of this time, the store has answered or cancelled the statement. Waiting for a connection counts. */
  readonly timeoutMs: number;
  /** How long a statement may wait for a connection before its time limit begins. Only with `keepsTimeLimits`. */
  readonly connectionWaitMs?: number | undefined;
  /** Called just before a statement is sent that had to wait for a connection. A store may leave it out. */
  readonly onSending?: (() => void) | undefined;
}

export interface Grant {
  /** `undefined` if the store has no tokens. */
  readonly fencingToken: number | undefined;
}

export interface LockRecord extends Omit<LockState, 'name' | 'isHeld'> {
  /** Whether `lockUntil` is in the future by the store's clock. */
  readonly held: boolean;
}

export type LockRecordPage = LockPage & { readonly limit: number };

export interface NamedLockRecord extends LockRecord {
  readonly name: string;
}

/**
 * A store with a conditional write. Each method is one atomic step, committed when its promise resolves, outside any
 * transaction of the caller. A method that fails throws a `LockStorageError` whose `outcome` reports what is known.
 * Any other error counts as `unknown`.
 */
export interface StorageAccessor {
  /** `true` if each method settles within its time limit, even if the store hangs. Default `false`. */
  readonly keepsTimeLimits?: boolean;
  /**
   * `true` if a record stays when its lock is released or expires. A release that finds no record during the lease is then
   * sent again, because a server that lags behind may have answered, unless `waitsForNodes` is `false`. Default `false`.
   */
  readonly keepsRecords?: boolean;
  /**
   * The length of a step, if the store's clock or the times in its records have steps. A lease may then begin that
   * much earlier in the record, so the holder trusts it for that much less. Default 0.
   */
  readonly clockStepMs?: number | undefined;
  /**
   * `true` if a statement may wait until its server has applied what other servers have committed. `false` if each statement
   * sees all that was committed when it arrived, and compares times as of then. Default: unknown.
   */
  readonly waitsForNodes?: boolean;
  /**
   * Creates the record, held by `owner` until now + `lockAtMostForMs`.
   *
   * @returns `undefined` if there is already a record of that name
   */
  insertRecord(request: LockRequest, options: StatementOptions): Promise<Grant | undefined>;
  /**
   * Takes over the record of that name if its `lockUntil` is not in the future, and raises its token.
   *
   * @returns `'held'` if the lock is held, or how, if that is known; `'missing'` if there is no record, and `undefined` if
   *   the store cannot distinguish the two
   */
  updateRecord(
    request: LockRequest,
    options: StatementOptions,
  ): Promise<Grant | { readonly heldBy: LockRecord } | 'held' | 'missing' | undefined>;
  /**
   * Moves `lockUntil` to now + `lockAtMostForMs`, but not before `lockedAt` + `lockAtLeastForMs`, and replaces
   * `owner` by `nextOwner`, if `owner` holds the lock.
   *
   * @returns `false` if `owner` does not hold it
   */
  extend(request: ExtensionRequest, options: StatementOptions): Promise<boolean>;
  /**
   * Moves `lockUntil` to now, but not before `lockedAt` + `lockAtLeastForMs`, and marks the record as released, if
   * `owner` holds the lock.
   *
   * @returns `false` if `owner` does not hold it
   */
  unlock(request: LockRequest, options: StatementOptions): Promise<boolean>;
  /**
   * Reads the record. `'resolve'` settles an unknown outcome: it must see every write that was sent before it, so it
   * reads from the primary and waits for writers. `'inspect'` may be a plain read.
   */
  find(
    name: string,
    options: StatementOptions & { purpose: 'inspect' | 'resolve' },
  ): Promise<LockRecord | undefined>;
  /**
   * Deletes the record if `owner` holds the lock, `lockedAt` + `lockAtLeastForMs` has passed, and the token of a new
   * record would be higher. Needed for `keepRows: false`.
   *
   * @returns `false` if nothing was deleted. cronlatch then calls `unlock`.
   */
  deleteRecord?(request: LockRequest, options: StatementOptions): Promise<boolean>;
  /** Reads at most `limit` records in the order of their names, from the first name after `after`. Optional. */
  list?(page: LockRecordPage, options: StatementOptions): Promise<readonly NamedLockRecord[]>;
  /**
   * Deletes at most 1000 records whose `lockUntil` is at least this far in the past. Needed for `keepRows: false`.
   *
   * @returns how many it has deleted
   */
  deleteExpired?(olderThanMs: number, options: StatementOptions): Promise<number>;
  /** Called before a lock of a job is requested. It must not reject. `undefined`: there is nothing to do. Optional. */
  prepare?(clock: Clock, options: StatementOptions): Promise<void> | undefined;
  /** Called when a record that this process has seen is gone, so that others can be gone, too. Optional. */
  onMissing?(): void;
  /** Closes what the accessor itself has opened. */
  close?(): Promise<void>;
}

/** The methods that a lease needs after it was granted. */
export type LeaseAccessor = Omit<StorageAccessor, 'insertRecord' | 'updateRecord'>;
