import type { Duration, LockProvider } from '../../core';

/** What the contract needs to know of a store. */
export interface LockProviderFixture {
  readonly provider: LockProvider;
  /** The same place of locks as another instance of the application sees it: nothing in memory is shared. */
  readonly other: LockProvider;
  /** Lets time pass for the store and for the clock of both providers alike. */
  readonly elapse: (duration: Duration) => void | Promise<void>;
  /** Removes the record of a lock, as an operator would. */
  readonly deleteRecord: (name: string) => void | Promise<void>;
  readonly dispose: () => void | Promise<void>;
}
