/**
 * core/: the lock, and running a task under it.
 *
 * A lock is one record in a store that all instances share. The process that moves its `lockUntil` into the future
 * holds the lock, and only the store's clock decides when that time has passed. `lease/` acquires, renews and
 * releases locks. `execution/` runs a task while its lock is held, and emits the events. `waiting/` waits for locks,
 * outside of cron. Three rules follow:
 *
 * - **A grant is a lease.** It ends by release, or `lockAtMostFor` after the last acquire or extend. The holder
 *   counts that time from just before it sent the statement, on the monotonic clock. Then its `AbortSignal` aborts:
 *   `lease.ts`.
 * - **Contention is a value, failure is an error.** `lock()` resolves to a lock, or to `undefined` if another process
 *   holds it. If it is not certain that the lock was obtained, `lock()` rejects and the handler does not run:
 *   `acquisition.ts`.
 * - **The job's own outcome wins.** A failed release becomes an event. It never replaces the job's result or error:
 *   `locking-task-executor.ts`.
 *
 * Not promised: that *effects* exclude one another after a lease has expired. A paused process can outlive any lease.
 * To be safe, compare the fencing token where the effect lands.
 *
 * A store plugs in as a `StorageAccessor` of five methods. This folder imports nothing but `node:*`.
 */
export { systemClock, type Clock } from './clock';
export type { Duration } from './duration';
export * from './errors';
export type * from './execution/events';
export { EventHub } from './execution/event-hub';
export type { LockConfiguration, TaskConfiguration } from './lock-configuration';
export { lockName } from './lock-name';
export type * from './lock';
export type * from './lease/storage-accessor';
export * from './lease/storage-based-lock-provider';
export { currentLock, LockAssert, LockExtender, type CurrentOptions } from './execution/current-lock';
export type * from './execution/locking-task-executor';
export { LockingTaskExecutor } from './execution/locking-task-executor';
export type { SkipReason, TaskResult } from './execution/task-result';
export type { LockManagerOptions, LockOptions, TryLockOptions } from './waiting/lock-manager';
export { LockManager } from './waiting/lock-manager';
export { refreshOnce, type RefreshOptions } from './waiting/refresh-once';
