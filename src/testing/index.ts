/**
 * For an application's own suite, and for new stores. Imports no test runner.
 *
 * @packageDocumentation
 */
export type { ContractCase } from './contract-case';
export type { LockProviderFixture } from './lock-provider-contract';
export { lockProviderContract } from './lock-provider-contract';
export { SettableClock } from './settable-clock';
export { unguarded } from './unguarded';
export type { TestGuard, TestGuardOptions } from './use-test-guard';
export { useTestGuard } from './use-test-guard';
