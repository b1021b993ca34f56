/**
 * The lock.
 *
 * A lock is one record in a store that all instances share. The process that moves its `lockUntil` into the future holds
 * it, and the store's clock alone decides when that time is over. `lease/` acquires, renews and releases a lock.
 * `execution/` runs a task while the lock is held, and emits its events. Three rules follow:
 *
 * - **A grant is a lease.** It ends by release, or `lockAtMostFor` after the last acquire or extend. The holder trusts it
 *   until (monotonic time before the statement was sent) + `lockAtMostFor`. Then an `AbortSignal` aborts: `lease.ts`.
 * - **Contention is a value, failure is an error.** `lock()` resolves to a lock, resolves to `undefined` if another
 *   process holds it, or rejects. If it is not *known* that the lock was obtained, it rejects and the handler does not
 *   run: `acquisition.ts`.
 * - **The job's own outcome wins.** A failed release is reported as an event, never instead of the job's result or
 *   error: `locking-task-executor.ts`.
 *
 * Not promised: that *effects* exclude one another after a lease has expired. A process that was paused can outlive any
 * lease. Compare the fencing token where the effect lands.
 *
 * A store joins by a `StorageAccessor` of five methods. Nothing here imports anything but `node:*`.
 */
export type { Clock } from './clock';
export { systemClock } from './clock';
export type { Duration } from './duration';
export * from './errors';
export type {
  CronlatchEvents,
  EventListener,
  EventName,
  LockEvent,
  MissedTickEvent,
  RunIdentity,
  RunLockEvent,
} from './execution/events';
export { EventHub } from './execution/events';
export type { LockConfiguration, TaskConfiguration } from './lock-configuration';
export type { Lock, LockObserver, LockProvider } from './lock';
export type {
  ExtensionRequest,
  Grant,
  LockRecord,
  LockRequest,
  StatementOptions,
  StorageAccessor,
} from './lease/storage-accessor';
export type { StorageBasedLockProviderOptions } from './lease/storage-based-lock-provider';
export { StorageBasedLockProvider } from './lease/storage-based-lock-provider';
export { currentLock, LockAssert, LockExtender } from './execution/lock-context';
export type { ExecutorOptions, HeldLock, ExecuteOptions } from './execution/locking-task-executor';
export { LockingTaskExecutor } from './execution/locking-task-executor';
export type { LockedTask, SkipReason, TaskResult } from './execution/task-result';
