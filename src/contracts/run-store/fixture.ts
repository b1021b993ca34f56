import type { Duration } from '../../core';
import type { RunKey } from '../../ledger/run';
import type { RunStore } from '../../ledger/run-store';
import { type CaseDefinition, ContractCapabilities, type Lacks, caseDefiner } from '../contract';

/** What the contract needs to know of any store of runs. */
export interface RunStoreBasics {
  readonly store: RunStore;
  /** The same place of runs as another instance of the application sees it: nothing in memory is shared. */
  readonly other: RunStore;
  /**
   * Lets time pass for the store. Where its clock cannot be set, every instant in its rows and events is set back by as
   * much instead, those of periods included.
   */
  readonly elapse: (duration: Duration) => void | Promise<void>;
  readonly dispose: () => void | Promise<void>;
}

/** What a fixture does for a capability that cannot be seen through the store. */
export interface RunStoreMeans {
  /** Removes a run, as an operator would. */
  readonly deleteRun: (key: RunKey) => void | Promise<void>;
  /** Runs `body` inside an open transaction of the application, which is then ended as `end` says. */
  readonly ambientTransaction: (end: 'commit' | 'rollback', body: () => Promise<void>) => Promise<void>;
}

/** What some stores have and others cannot. */
export type RunStoreCapability = keyof RunStoreMeans;

/** The capabilities of which a store may say, in words, why it does not have them. */
export type LackedRunStoreCapabilities<Lacked extends RunStoreCapability = RunStoreCapability> =
  Lacks<Lacked>;

/** A fresh place of runs, seen by two instances, with the means for every capability that is not `Lacked`. */
export type RunStoreFixture<Lacked extends RunStoreCapability = never> = RunStoreBasics &
  Omit<RunStoreMeans, Lacked>;

export const CAPABILITIES = new ContractCapabilities<RunStoreCapability>('runStoreContract', {
  deleteRun: true,
  ambientTransaction: true,
});

export interface RunStoreShape {
  readonly basics: RunStoreBasics;
  readonly means: RunStoreMeans;
  readonly capability: RunStoreCapability;
  readonly settings: object;
}

export type RunStoreCase = CaseDefinition<RunStoreShape>;

export const { cases, needing } = caseDefiner<RunStoreShape>();
