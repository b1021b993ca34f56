import type { Duration, LockProvider } from '../../core';
import type { CapabilityMeans, LockProviderCapability } from './capabilities';

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
