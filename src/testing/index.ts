/**
 * For an application's own suite, and for new stores. Imports no test runner.
 *
 * @packageDocumentation
 */
export type { AsRunOptions, AsRunResult } from './as-run';
export { asRun } from './as-run';
export type { ContractCase } from '../contracts/contract-case';
export type {
  CapabilityMeans,
  ExistingRecord,
  LackedCapabilities,
  LockProviderCapability,
  LockProviderContractOptions,
  LockProviderFixture,
} from '../contracts/lock-provider';
export { lockProviderContract } from '../contracts/lock-provider';
export type {
  LackedRunStoreCapabilities,
  RunStoreCapability,
  RunStoreContractOptions,
  RunStoreFixture,
  RunStoreMeans,
} from '../contracts/run-store';
export { runStoreContract } from '../contracts/run-store';
export { SettableClock } from './settable-clock';
export { unguarded } from './unguarded';
export type { TestGuard, TestGuardOptions } from './use-test-guard';
export { useTestGuard } from './use-test-guard';
