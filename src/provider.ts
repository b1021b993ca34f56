/**
 * For authors of stores. A store of locks is a `StorageAccessor` of five methods under a `StorageBasedLockProvider`,
 * or a `LockProvider` of its own. A store of runs is a `RunStore`. `cronlatch/contracts` tests both.
 * `LockingTaskExecutor` runs tasks under locks without a guard. Code that names the types of `guard.ledger` imports them
 * from here.
 *
 * @packageDocumentation
 */

// Locks.
export { StorageBasedLockProvider } from './core';
export type {
  ExtensionRequest,
  Grant,
  LockObserver,
  LockPage,
  LockProvider,
  LockRecord,
  LockRequest,
  LockState,
  LockStorageErrorOptions,
  NamedLockRecord,
  StatementOptions,
  StorageAccessor,
  StorageBasedLockProviderOptions,
  StorageOutcome,
} from './core';

// Tasks under locks, and the events of both.
export { EventHub, LockingTaskExecutor } from './core';
export type {
  EventListener,
  EventName,
  ExecutorOptions,
  HeldLock,
  LockedTask,
  LockEvent,
  MissedTickEvent,
  ExecuteOptions,
  RunIdentity,
  RunLockEvent,
  RunSkipReason,
  TaskConfiguration,
  TickDetails,
  TickEvent,
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
  Run,
  RunEvent,
  RunEventKind,
  RunKey,
  RunPeriod,
  RunQuery,
  RunState,
  RunStore,
  RunSummary,
} from './ledger';

// The register of jobs.
export type { DeclaredJob, DeclaredSchedule, JobRegister, JobRegistration } from './ledger';
export type { LateJob, RegisteredJob } from './ledger';
export type { JobChange, LastRunChange, ScheduleChange } from './ledger';

// Tools for operators, on `guard.ledger` and `guard.backfill`.
export type { BackfillRange, BackfillResult, Explanation, OperatorAct, RunLedger, RunName } from './ledger';

// Time.
export { systemClock } from './core';
export type { Clock } from './core';

// What the options and results in `cronlatch` are made of, for code that must name it.
export type { Asynchronous, SchedulerLockDecorator, Skippable, ThrowingLockDecorator } from './decorator';
export type { JobOptions, LockByArguments, MethodOptions, NamedByArguments, WrapOptions } from './guard';
export type { CloseOptions, CloseResult, ForcedRelease, GuardLocks, OverdueResult } from './guard';
export type { FieldLogger, LogEntry, LogFields, LogLevel, StructuredLogger } from './guard';
export type { CurrentOptions, LockManagerOptions, LockOptions, RefreshOptions, TryLockOptions } from './core';
export type { CatchUp, CatchUpOptions, PeriodKeyFunction, RetryOptions } from './ledger';
