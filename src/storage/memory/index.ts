export { InMemoryLockProvider } from './in-memory-lock-provider';
export type { InMemoryRunStoreOptions } from './in-memory-run-store';
export { InMemoryRunStore } from './in-memory-run-store';
export { InMemoryRuns } from './in-memory-runs';
