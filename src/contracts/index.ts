/**
 * The promises of every store, as cases for any test runner: for authors of stores. `lockProviderContract` is
 * for locks, `runStoreContract` for the ledger's runs. The tests of cronlatch show for each case a store that
 * breaks its promise and fails the case. Imports no test runner.
 *
 * @packageDocumentation
 */
export type { ContractCase, Lacks } from './contract';
export type {
  CapabilityMeans,
  ExistingRecord,
  LackedCapabilities,
  LockProviderBasics,
  LockProviderCapability,
  LockProviderFixture,
} from './lock-provider/fixture';
export { lockProviderContract, type LockProviderContractOptions } from './lock-provider';
export type {
  LackedRunStoreCapabilities,
  RunStoreBasics,
  RunStoreCapability,
  RunStoreFixture,
  RunStoreMeans,
} from './run-store/fixture';
export { runStoreContract, type RunStoreContractOptions } from './run-store';
