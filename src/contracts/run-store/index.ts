import type { ContractCase } from '../contract-case';
import { contractOf } from '../contract-of';
import { allCases } from './all-cases';
import {
  CAPABILITIES,
  type LackedRunStoreCapabilities,
  type RunStoreCapability,
  type RunStoreFixture,
} from './fixture';

export type {
  LackedRunStoreCapabilities,
  RunStoreCapability,
  RunStoreFixture,
  RunStoreMeans,
} from './fixture';

export interface RunStoreContractOptions<Lacked extends RunStoreCapability = never> {
  /** What the store does not have, and why: the cases that need it are to be skipped, and say so. */
  readonly lacks?: LackedRunStoreCapabilities<Lacked>;
  /** Of the cases that are random: a failure tells its seed. Default: another one each time. */
  readonly seed?: number;
}

/**
 * What every store of runs promises, as a list of cases for any runner. A name begins with a promise of the ledger: L1
 * one row for each key, L2 one attempt at a time, L3 completed is completed, L4 what is owed is found, L7 what was
 * missed can be seen; or, as L-01, with one of the situations that the ledger must withstand.
 *
 * @param create makes a fixture for one case; its runs are not shared with any other
 * @throws InvalidLockUseError for a capability that there is not, or one that is lacked without a reason
 */
export function runStoreContract<Lacked extends RunStoreCapability = never>(
  create: () => RunStoreFixture<NoInfer<Lacked>> | Promise<RunStoreFixture<NoInfer<Lacked>>>,
  { lacks = {}, seed }: RunStoreContractOptions<Lacked> = {},
): ContractCase[] {
  return contractOf(allCases, { capabilities: CAPABILITIES, create, lacks, seed, settings: {} });
}
