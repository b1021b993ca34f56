import type { Duration, LockProvider } from '../../core';
import { ContractCapabilities, type Lacks, caseDefiner } from '../contract';

/** What the contract needs to know about every store. */
export interface LockProviderBasics {
  readonly provider: LockProvider;
  /** The same locks as another instance of the application sees them: the two share nothing in memory. */
  readonly other: LockProvider;
  /** Lets time pass for the store and for the clock of both providers alike. Timers that fall due fire. */
  readonly elapse: (duration: Duration) => void | Promise<void>;
  readonly dispose: () => void | Promise<void>;
}

/** A fresh place of locks, seen by two instances, with the means of each capability that is not `Lacked`. */
export type LockProviderFixture<Lacked extends LockProviderCapability = never> = LockProviderBasics &
  Omit<CapabilityMeans, Lacked>;

/** A lock's record that the provider did not write: written by hand, or by ShedLock for Java. */
export interface ExistingRecord {
  readonly name: string;
  /** A host's name, or empty. */
  readonly lockedBy: string;
  /** When the record's lock ends, in milliseconds from now by the store's clock; negative if it has ended. */
  readonly endsInMs: number;
}

/** Functions of a fixture for a capability that the provider itself cannot show. */
export interface CapabilityMeans {
  /**
   * Removes the record of a lock, as an operator would. If the store seeds its tokens from a clock that
   * `elapse` does not move, this resolves only after that clock has moved on.
   */
  readonly deleteRecord: (name: string) => void | Promise<void>;
  /** Writes a record without a token, as another program would. It replaces an existing record. */
  readonly existingRecord: (record: ExistingRecord) => void | Promise<void>;
  /**
   * Lets time pass as `elapse` does, but without firing timers: a blocked event loop, a stopped process. The
   * clock moves before this returns, so a call that was just made gets its answer that much later.
   */
  readonly stall: (duration: Duration) => void | Promise<void>;
  /** Runs `body` inside an open transaction of the application, and then commits it or rolls it back. */
  readonly ambientTransaction: (end: 'commit' | 'rollback', body: () => Promise<void>) => Promise<void>;
  /**
   * From now on, both providers get the answer to each plain read from before the last write, as behind a
   * proxy that sends such reads to a replica. Writes, and reads that lock, are not changed.
   */
  readonly staleReads: () => void | Promise<void>;
}

/**
 * Capabilities that some stores have and others cannot have: the functions above; `fencingTokens`, tokens
 * that rise with every grant of a name; `observer`, a provider that reports renewals, losses and holders to
 * its observer; `exactExpiry`, leases that end with their `lockAtMostFor`, even if that is not a whole number
 * of seconds; `atLeastAfterCrash`, a `lockAtLeastFor` that outlasts a crashed holder; `manyLocks`, hundreds
 * of locks held at once; and the optional methods of a provider.
 */
export type LockProviderCapability =
  | keyof CapabilityMeans
  | 'fencingTokens'
  | 'observer'
  | 'exactExpiry'
  | 'atLeastAfterCrash'
  | 'manyLocks'
  | OptionalMethod;

export type OptionalMethod = 'inspect' | 'list' | 'forceRelease' | 'released' | 'hold';

/** The capabilities that a store may lack, each with the reason in words. */
export type LackedCapabilities<Lacked extends LockProviderCapability = LockProviderCapability> =
  Lacks<Lacked>;

export const CAPABILITIES = new ContractCapabilities<LockProviderCapability>('lockProviderContract', {
  fencingTokens: false,
  observer: false,
  exactExpiry: false,
  atLeastAfterCrash: false,
  manyLocks: false,
  inspect: false,
  list: false,
  forceRelease: false,
  released: false,
  hold: false,
  deleteRecord: true,
  existingRecord: true,
  stall: true,
  ambientTransaction: true,
  staleReads: true,
});

export type Instances = Omit<LockProviderBasics, 'dispose'>;

export const { cases, needing } = caseDefiner<{
  readonly basics: LockProviderBasics;
  readonly means: CapabilityMeans;
  readonly capability: LockProviderCapability;
  readonly place: Instances & { readonly fuzzedNames: number };
}>();
