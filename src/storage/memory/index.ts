/**
 * Locks and runs that only this process sees: for tests, and for tools that run in one process.
 *
 * @packageDocumentation
 */
export { InMemoryLockProvider } from './in-memory-lock-provider';
export type { InMemoryRunStoreOptions } from './in-memory-run-store';
export { InMemoryRunStore } from './in-memory-run-store';
export { InMemoryRuns } from './in-memory-runs';
