/// <reference lib="esnext.disposable" preserve="true" />
import type { Duration } from './duration';
import type { LockLostError } from './errors';
import type { LockConfiguration } from './lock-configuration';

/** One granted lease, from its acquisition to its end. */
export interface Lock extends AsyncDisposable {
  readonly name: string;
  /**
   * Rises with every grant of this name. Send it along with effects that must not come from a holder that was
   * paused past its lease, and refuse lower ones where they land. `undefined` where the store has no tokens.
   */
  readonly fencingToken: number | undefined;
  /**
   * Aborts, with a `LockLostError` as its reason, no later than the lease ends; in a guarded run also, with an
   * `AbortError`, shortly before its guard stops waiting for it on closing. Not aborted by a release.
   */
  readonly signal: AbortSignal;
  /** How long the lease can still be trusted, in milliseconds; 0 when it is over. */
  remainingMs(): number;
  /**
   * Releases the lock (kept until `lockAtLeastFor` has passed). Calling it again gives the same answer.
   *
   * @returns whether the lock was still ours
   * @throws LockStorageError when the store could not be told; the lock then ends by itself
   */
  unlock(): Promise<boolean>;
  /**
   * Moves the end of the lease to now + `lockAtMostFor`.
   *
   * @returns `false` when the lease is lost or released: nothing was changed
   * @throws LockStorageError when the store did not answer; the old end of the lease still counts
   */
  extend(lockAtMostFor: Duration): Promise<boolean>;
}

/** Where locks come from. One method, so that any store, and any wrapper around one, is a lock provider. */
export interface LockProvider {
  /**
   * Names the *place* of the locks, equal on all instances that share them. Without it, two providers count as two places. It may be missing until the first lock is granted.
   */
  readonly id?: string | undefined;
  /**
   * Tries once, never waits for another holder.
   *
   * @param observer is told what only the provider can see; a provider may leave it out
   * @returns `undefined` while another owner holds the lock
   * @throws LockStorageError if it is not known that the lock was obtained
   * @throws InvalidLockConfigurationError for a configuration that cannot be meant
   */
  lock(configuration: LockConfiguration, observer?: LockObserver): Promise<Lock | undefined>;
  /**
   * For health checks: asks the store for something small. A provider may leave it out.
   *
   * @throws LockStorageError when the store fails, or does not answer in this time
   */
  probe?(timeoutMs: number): Promise<void>;
}

/** What a caller shares with the provider about one lock. Every member is optional; the methods must not throw. */
export interface LockObserver {
  /** The look at a lock that was refused: once a minute and name at most. */
  refused?(holder: { heldBy: string; heldUntil: Date }): void;
  extended?(lockAtMostForMs: number): void;
  lost?(error: LockLostError): void;
  /** Something failed that is tried again, or lapses by itself. */
  warning?(message: string, error: unknown): void;
  /** When it aborts, a keep-alive stops and the lease expires. */
  readonly abandonedSignal?: AbortSignal;
}
