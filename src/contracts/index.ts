/**
 * The promises of every lock provider, as cases for any test runner: for authors of stores. The tests of
 * cronlatch show for each case a store that breaks its promise and fails the case. Imports no test runner.
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
