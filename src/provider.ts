/**
 * For authors of stores. A store of locks is a `StorageAccessor` of five methods under a `StorageBasedLockProvider`,
 * or a `LockProvider` of its own. A store of runs is a `RunStore`. `cronlatch/contracts` tests both.
 * `LockingTaskExecutor` runs tasks under locks without a guard.
 *
 * @packageDocumentation
 */

// Locks.
export { StorageBasedLockProvider } from './core';
export type {
  ExtensionRequest,
  Grant,
  LockObserver,
  LockProvider,
  LockRecord,
  LockRequest,
  LockStorageErrorOptions,
  StatementOptions,
  StorageAccessor,
  StorageBasedLockProviderOptions,
  StorageOutcome,
} from './core';

// Tasks under locks, and the events of both.
export { EventHub, LockingTaskExecutor } from './core';
export type {
  ExecutorOptions,
  HeldLock,
  LockedTask,
  LockEvent,
  MissedTickEvent,
  ExecuteOptions,
  RunIdentity,
  RunLockEvent,
  TaskConfiguration,
} from './core';

// Runs.
export type {
  Claim,
  Decision,
  FoundRun,
  NewRun,
  NewRunEvent,
  OverdueScope,
  Peek,
  PeekRequest,
  PurgeRequest,
  PurgeStep,
  RunEventKind,
  RunPeriod,
  RunStore,
  RunSummary,
} from './ledger';

// Time.
export { systemClock } from './core';
export type { Clock } from './core';
