/**
 * For authors of stores. A store of locks is a `StorageAccessor` of five methods under a `StorageBasedLockProvider`,
 * or a `LockProvider` of its own, which `cronlatch/contracts` tests.
 * `LockingTaskExecutor` runs tasks under locks without a guard. Code that names the types of `guard.ledger` imports them
 * from here, and those of an overview from `cronlatch/operations`.
 *
 * @packageDocumentation
 */

// Locks.
export { StorageBasedLockProvider } from './core';
export type { ExtensionRequest, Grant, LockObserver, LockPage, LockProvider, LockRecord } from './core';
export type { LockRecordPage, LockRequest, LockState, LockStorageErrorOptions } from './core';
export type { NamedLockRecord, StatementOptions, StorageAccessor } from './core';
export type { StorageBasedLockProviderOptions, StorageOutcome } from './core';

// Tasks under locks, and the events of both.
export { EventHub, LockingTaskExecutor } from './core';
export type { EventListener, EventName, ExecutorOptions, HeldLock, LockedTask, LockEvent } from './core';
export type { MissedTickEvent, ExecuteOptions, RunIdentity, RunLockEvent, RunSkipReason } from './core';
export type { TaskConfiguration, TickEvent } from './core';

// Runs.
export type { LatestRun, Run, RunEvent, RunEventKind, RunKey, RunPeriod, RunProgress } from './ledger';
export type { RunLogEntry, RunState, RunSummary } from './ledger';

// The register of jobs.
export type { DeclaredJob, DeclaredSchedule, RegisteredJob } from './ledger';

// Tools for operators, on `guard` and `guard.ledger`.
export type { RunningLock } from './core';
export type { Explanation, OperatorAct, RunLedger, RunName } from './ledger';

// Time.
export { systemClock, type Clock } from './core';

// What the options and results in `cronlatch` are made of, for code that must name it.
export type { Asynchronous, SchedulerLockDecorator, Skippable, ThrowingLockDecorator } from './decorator';
export type { DurationSource, JobLock, JobOptions, LockByArguments, MethodLock } from './guard';
export type { MethodOptions, NamedByArguments, WrapOptions } from './guard';
export type { CloseOptions, CloseResult, GuardLocks, OverdueResult } from './guard';
export type { FieldLogger, LogEntry, LogFields, LogLevel, StructuredLogger } from './guard';
export type { CurrentOptions, LockManagerOptions, LockOptions, RefreshOptions, TryLockOptions } from './core';
export type { CatchUp, CatchUpOptions, PeriodKeyFunction, RetryOptions } from './ledger';
