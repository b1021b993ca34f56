/**
 * For authors of jobs: the decorators, the guard, the functions that a running job can call, and the errors. Calendars,
 * such as `weekdays`, are in `cronlatch/calendar`. The types of runs, those that options are made of, and all that authors
 * of stores need are in `cronlatch/provider`.
 *
 * @packageDocumentation
 */

// Declare a job.
export { OncePer, OncePerDay, SchedulerLock } from './decorator';
export type { GuardConfiguration, JobConfiguration } from './guard';
export { lockName, type Duration, type LockConfiguration } from './core';
export type { OncePerConfiguration, OncePerOptions } from './ledger';

// Run and close jobs.
export { configureJobGuard, JobGuard, structured, type JobGuardOptions, type Logger } from './guard';
export type { CronlatchEvents, SkipReason, TaskResult } from './core';

// Locks outside of jobs.
export { LockManager, refreshOnce } from './core';

// Inside a running job.
export { currentLock, LockAssert, LockExtender, type Lock } from './core';
export { currentRun, type CurrentRun } from './ledger';

// Errors.
export { CronlatchError, InvalidLockConfigurationError, InvalidLockUseError } from './core';
export { JobSkippedError, LockLostError, LockNotHeldError, NotConfiguredError } from './core';
export { CalendarError, ClaimLostError, FatalJobError, RunAlreadyCompletedError } from './core';
export { LockStorageError, SchemaMismatchError } from './core';
