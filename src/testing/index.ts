/**
 * Helpers for testing the jobs of an application. They do not depend on a test runner.
 *
 * @packageDocumentation
 */
export type { AsRunOptions, AsRunResult } from './as-run';
export { asRun } from './as-run';
export { SettableClock } from './settable-clock';
export { unguarded } from './unguarded';
export type { TestGuard, TestGuardOptions } from './use-test-guard';
export { useTestGuard } from './use-test-guard';
