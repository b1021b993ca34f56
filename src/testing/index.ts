/**
 * For an application's own suite, and for new stores. Imports no test runner.
 *
 * @packageDocumentation
 */
export type { AsRunOptions, AsRunResult } from './as-run';
export { asRun } from './as-run';
export type { ContractCase } from './contract-case';
export type {
  CapabilityMeans,
  ExistingRecord,
  LackedCapabilities,
  LockProviderCapability,
  LockProviderContractOptions,
  LockProviderFixture,
} from './lock-provider-contract';
export { lockProviderContract } from './lock-provider-contract';
export type {
  LackedRunStoreCapabilities,
  RunStoreCapability,
  RunStoreContractOptions,
  RunStoreFixture,
  RunStoreMeans,
} from './run-store-contract';
export { runStoreContract } from './run-store-contract';
export { SettableClock } from './settable-clock';
export { unguarded } from './unguarded';
export type { TestGuard, TestGuardOptions } from './use-test-guard';
export { useTestGuard } from './use-test-guard';
