/**
 * Helpers for testing the jobs of an application. They do not depend on a test runner.
 *
 * @packageDocumentation
 */
export { asRun, type AsRunOptions, type AsRunResult } from './as-run';
export { SettableClock } from './settable-clock';
export { unguarded } from './unguarded';
export { useTestGuard, type TestGuard, type TestGuardOptions } from './use-test-guard';
