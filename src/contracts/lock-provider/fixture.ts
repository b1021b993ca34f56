import type { Duration, LockProvider } from '../../core';
import { type CaseDefinition, ContractCapabilities, type Lacks, caseDefiner } from '../contract';

/** What the contract needs to know of any store. */
export interface LockProviderBasics {
  readonly provider: LockProvider;
  /** The same place of locks as another instance of the application sees it: nothing in memory is shared. */
  readonly other: LockProvider;
  /** Lets time pass for the store and for the clock of both providers alike. Timers that fall due on the way fire. */
  readonly elapse: (duration: Duration) => void | Promise<void>;
  readonly dispose: () => void | Promise<void>;
}

/** A fresh place of locks, seen by two instances, with the means for every capability that is not `Lacked`. */
export type LockProviderFixture<Lacked extends LockProviderCapability = never> = LockProviderBasics &
  Omit<CapabilityMeans, Lacked>;

/** A lock's record that is not the provider's own: written by hand, or by ShedLock for Java. */
export interface ExistingRecord {
  readonly name: string;
  /** A host's name, or empty. */
  readonly lockedBy: string;
  /** When the record's lock ends, in milliseconds from now by the store's clock; negative when it ended that long ago. */
  readonly endsInMs: number;
}

/** What a fixture does for a capability that cannot be seen through the provider. */
export interface CapabilityMeans {
  /**
   * Removes the record of a lock, as an operator would. Where tokens are seeded by a clock that `elapse` does not move,
   * that clock has moved on when this resolves.
   */
  readonly deleteRecord: (name: string) => void | Promise<void>;
  /** Writes a record without a token, as an operator or another program would, in place of one that is there. */
  readonly existingRecord: (record: ExistingRecord) => void | Promise<void>;
  /**
   * Lets time pass as `elapse` does, but no timer fires: a blocked event loop, a stopped process. The clock moves before
   * this returns, so that a call which has just been made is answered that much later.
   */
  readonly stall: (duration: Duration) => void | Promise<void>;
  /** Runs `body` inside an open transaction of the application, which is then ended as `end` says. */
  readonly ambientTransaction: (end: 'commit' | 'rollback', body: () => Promise<void>) => Promise<void>;
}

/**
 * What some stores have and others cannot: the means above; `fencingTokens`, tokens that rise with every grant of a
 * name; and `observer`, a provider that tells the observer which it is given of renewals, losses and holders.
 */
export type LockProviderCapability = keyof CapabilityMeans | 'fencingTokens' | 'observer';

/** The capabilities of which a store may say, in words, why it does not have them. */
export type LackedCapabilities<Lacked extends LockProviderCapability = LockProviderCapability> =
  Lacks<Lacked>;

export const CAPABILITIES = new ContractCapabilities<LockProviderCapability>('lockProviderContract', {
  fencingTokens: false,
  observer: false,
  deleteRecord: true,
  existingRecord: true,
  stall: true,
  ambientTransaction: true,
});

export interface LockProviderShape {
  readonly basics: LockProviderBasics;
  readonly means: CapabilityMeans;
  readonly capability: LockProviderCapability;
  readonly settings: {
    /** How many random names a case tries. */
    readonly fuzzedNames: number;
  };
}

export type LockProviderCase = CaseDefinition<LockProviderShape>;

export const { cases, needing } = caseDefiner<LockProviderShape>();
