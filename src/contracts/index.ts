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
  LockProviderContractOptions,
  LockProviderFixture,
} from './lock-provider';
export { lockProviderContract } from './lock-provider';
export type {
  LackedRunStoreCapabilities,
  RunStoreBasics,
  RunStoreCapability,
  RunStoreContractOptions,
  RunStoreFixture,
  RunStoreMeans,
} from './run-store';
export { runStoreContract } from './run-store';
