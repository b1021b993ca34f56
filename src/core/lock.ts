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

/** A source of locks. It needs one method only, so that any store, or a wrapper around one, can be a lock provider. */
export interface LockProvider {
  /**
   * Identifies the *place* of the locks, equal on all instances that share them. Without it, two providers count as
   * two places. It may be `undefined` until the first lock is granted.
   */
  readonly id?: string | undefined;
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
   * For health checks: sends one small statement to the store. Optional.
   *
   * @throws LockStorageError if the store fails, or does not answer within `timeoutMs`
   */
  probe?(timeoutMs: number): Promise<void>;
}

/** Connects a caller with the provider of its lock. Every member is optional. The methods must not throw. */
export interface LockObserver {
  /** The lock was refused because of this holder. Called at most once a minute per name. */
  refused?(holder: { heldBy: string; heldUntil: Date }): void;
  extended?(lockAtMostForMs: number): void;
  lost?(error: LockLostError): void;
  /** A step failed. The provider retries it, or the end of the lease makes it unnecessary. */
  warning?(message: string, error: unknown): void;
  /** When it aborts, `keepAlive` stops and the lease expires. */
  readonly abandonedSignal?: AbortSignal;
}
