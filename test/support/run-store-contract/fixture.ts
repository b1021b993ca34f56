import type { Duration } from 'cronlatch';
import type { RunKey } from '#cronlatch/ledger/run';
import type { RunStore } from '#cronlatch/ledger/run-store';
import { ContractCapabilities, type Lacks, caseDefiner } from '#cronlatch/contracts/contract';
import type { TestedStore } from './tested-store';

/** What the contract needs to know about every store of runs. */
export interface RunStoreBasics {
  readonly store: RunStore;
  /** The same runs as another instance of the application sees them: the two share nothing in memory. */
  readonly other: RunStore;
  /**
   * Lets time pass for the store. If its clock cannot be set, every instant in its rows and events, including
   * those of periods, is moved back by as much instead.
   */
  readonly elapse: (duration: Duration) => void | Promise<void>;
  readonly dispose: () => void | Promise<void>;
}

/** Functions of a fixture for a capability that the store itself cannot show. */
export interface RunStoreMeans {
  /** Removes a run, as an operator would. */
  readonly deleteRun: (key: RunKey) => void | Promise<void>;
  /** Runs `body` inside an open transaction of the application, and then commits it or rolls it back. */
  readonly ambientTransaction: (end: 'commit' | 'rollback', body: () => Promise<void>) => Promise<void>;
  /** As in the fixture of `lockProviderContract`. */
  readonly staleReads: () => void | Promise<void>;
}

/** Capabilities that some stores have and others cannot have. */
export type RunStoreCapability = keyof RunStoreMeans;

/** The capabilities that a store may lack, each with the reason in words. */
export type LackedRunStoreCapabilities<Lacked extends RunStoreCapability = RunStoreCapability> =
  Lacks<Lacked>;

/** A fresh place of runs, seen by two instances, with the means of each capability that is not `Lacked`. */
export type RunStoreFixture<Lacked extends RunStoreCapability = never> = RunStoreBasics &
  Omit<RunStoreMeans, Lacked>;

export const CAPABILITIES = new ContractCapabilities<RunStoreCapability>('runStoreContract', {
  deleteRun: true,
  ambientTransaction: true,
  staleReads: true,
});

/** The two instances, and the time that passes for both. */
export interface Instances extends Pick<RunStoreBasics, 'elapse'> {
  readonly store: TestedStore;
  readonly other: TestedStore;
}

export const { cases, needing } = caseDefiner<{
  readonly basics: RunStoreBasics;
  readonly means: RunStoreMeans;
  readonly capability: RunStoreCapability;
  readonly place: Instances;
}>();
