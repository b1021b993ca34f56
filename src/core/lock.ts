/// <reference lib="esnext.disposable" preserve="true" />
import type { Duration } from './duration';
import type { LockLostError } from './errors';
import type { LockConfiguration } from './lock-configuration';

/** One granted lease, from its acquisition to its end. */
export interface Lock extends AsyncDisposable {
  readonly name: string;
  /**
   * Rises with every grant of this name. Pass it along with each effect that a holder paused past its lease must not
   * have, and refuse lower tokens at the target. `undefined` if the store has no tokens.
   */
  readonly fencingToken: number | undefined;
  /**
   * Aborts with a `LockLostError`, no later than the lease ends. In a guarded run it also aborts with an
   * `AbortError`, shortly before a closing guard stops waiting for the run. A release does not abort it.
   */
  readonly signal: AbortSignal;
  /** How long the lease can still be trusted, in milliseconds; 0 after its end. */
  remainingMs(): number;
  /**
   * Releases the lock. The record stays locked until `lockAtLeastFor` has passed. Further calls return the same
   * result.
   *
   * @returns whether the lock was still ours
   * @throws LockStorageError if the store did not confirm the release; the lease then expires
   */
  unlock(): Promise<boolean>;
  /**
   * Moves the end of the lease to now + `lockAtMostFor`.
   *
   * @returns `false` if the lease is lost or released: nothing was changed
   * @throws LockStorageError if the store did not answer; the old end of the lease still counts
   */
  extend(lockAtMostFor: Duration): Promise<boolean>;
}

/** A task that runs while the lock is held. cronlatch awaits its result before it releases the lock. */
export type LockedTask<T> = (lock: Lock) => T | PromiseLike<T>;

/** A source of locks. It needs one method only, so that any store, or a wrapper around one, can be a lock provider. */
export interface LockProvider {
  /**
   * Identifies the *place* of the locks, equal on all instances that share them. Without it, two providers count as
   * two places. It may be `undefined` until the first lock is granted.
   */
  readonly id?: string | undefined;
  /** Reads `id` again, for a store that keeps it. If the store fails, `id` stays as it is. Optional. */
  refreshId?(): Promise<void>;
  /**
   * Tries once, and never waits for another holder.
   *
   * @param observer receives reports that only the provider can make; a provider may ignore it
   * @returns `undefined` if another owner holds the lock
   * @throws LockStorageError if it is not certain that the lock was obtained
   * @throws InvalidLockConfigurationError for an invalid configuration
   */
  lock(configuration: LockConfiguration, observer?: LockObserver): Promise<Lock | undefined>;
  /**
   * For health checks: sends one small statement. Optional.
   *
   * @throws LockStorageError if the store fails, or does not answer within `timeoutMs`
   */
  probe?(timeoutMs: number): Promise<void>;
  /**
   * Reads a lock, and changes nothing. Optional.
   *
   * @returns `undefined` if the store has no record of this name, so the lock is free
   * @throws LockStorageError if the store fails
   */
  inspect?(name: string): Promise<LockState | undefined>;
  /**
   * Lists locks, held and free, in the store's order of their names. Optional.
   *
   * @throws LockStorageError if the store fails
   */
  list?(page: LockPage): Promise<readonly LockState[]>;
  /**
   * Ends the lease of another holder now, even during its `lockAtLeastFor`. The holder loses its lock: its next renewal,
   * extension or release finds that out. Optional.
   *
   * @param owner `lockedBy` of the record, as last read. The holder may have renewed its lease since.
   * @returns `false` if this holder does not hold the lock any more: nothing was changed
   * @throws LockStorageError if the store did not confirm the release
   */
  forceRelease?(name: string, owner: string): Promise<boolean>;
  /**
   * Takes a lock for an operator: it is not renewed, and outlives this process. `forceRelease` ends it early. Never waits.
   * Optional.
   *
   * @param request.owner what `lockedBy` of the record will be. Unique for each call, at most 231 characters long, and not
   *   ending in a slash and a number, which mark the renewals of a holder
   * @returns `false` if another owner holds the lock: nothing was changed
   * @throws LockStorageError if it is not certain that the lock was obtained
   * @throws InvalidLockConfigurationError for an invalid name or duration
   */
  hold?(
    name: string,
    request: { readonly owner: string; readonly lockAtMostFor: Duration },
  ): Promise<boolean>;
  /**
   * Resolves when another attempt at this lock is worthwhile: it was released, or that is not known. Also resolves when
   * `signal` aborts. Optional, for stores that can notify. Waiters of any other store poll.
   */
  released?(name: string, signal: AbortSignal): Promise<void>;
  /**
   * Deletes the records of locks whose leases ended at least this long ago. Optional.
   *
   * @returns how many records it has deleted
   * @throws InvalidLockUseError if the provider keeps the records of its locks
   * @throws LockStorageError if the store fails. Some records may be deleted.
   */
  purge?(olderThanMs: number): Promise<number>;
}

/** A lock as its store shows it. */
export interface LockState {
  readonly name: string;
  /** Whether the lease lasts, by the store's clock. */
  readonly isHeld: boolean;
  /** The id of the last holder: `instanceName`, host, process and acquisition. Other programs write other ids. */
  readonly lockedBy: string;
  /** The end of the lease, by the store's clock. */
  readonly lockUntil: Date;
  /** When the lock was granted, by the store's clock. `undefined` if the store does not keep this. */
  readonly lockedAt?: Date | undefined;
  /** When the record was read, by the store's clock. `undefined` if the store does not report this. */
  readonly readAt?: Date | undefined;
  /** `undefined` if the store has no tokens. */
  readonly fencingToken: number | undefined;
}

export interface LockPage {
  /** Only locks after this name. Default: from the first one. */
  readonly after?: string | undefined;
  /** How many locks at most. Default 100. */
  readonly limit?: number | undefined;
  /** Only locks that are held. Default: also free ones. */
  readonly held?: boolean | undefined;
}

/** Connects a caller with the provider of its lock. Every member is optional. The methods must not throw. */
export interface LockObserver {
  /** The lock was refused because of this holder. Called at most once a minute per name. */
  refused?(holder: { heldBy: string; heldUntil: Date }): void;
  extended?(lockAtMostForMs: number): void;
  lost?(error: LockLostError): void;
  /** A release found an older record, or none. It may go on until the lease ends, but the job has ended. */
  contradicted?(error: Error): void;
  /** A step failed. The provider retries it, or the end of the lease makes it unnecessary. */
  warning?(message: string, error: unknown): void;
  /** When this signal aborts, `keepAlive` stops and the lease expires. It is created when it is first asked for. */
  abandonedSignal?(): AbortSignal;
  /** The name of this process, with which the owner of the lock begins. Default: its host and process id. */
  readonly instance?: string | undefined;
  /** How late the tick was when it requested the lock, in milliseconds. `undefined`: no tick, so no grant comes too late. */
  readonly tickLateByMs?: number | undefined;
  /** Shortens the time limit of the attempt's statements, because its caller stops waiting soon. In milliseconds. */
  readonly statementTimeoutMs?: number;
}
