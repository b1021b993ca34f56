/**
 * An application configures a `JobGuard` once. It holds the lock provider, the defaults, the events and the logger, and
 * every guarded job runs through it. Closing it starts no new runs, waits for the running ones and releases their locks.
 *
 * Nothing runs unguarded. A guarded method uses the guard that scheduled its instance, or else the configured guard.
 * Without either, calling it is an error.
 */
export type { CloseOptions, CloseResult } from './closing/closing';
export type { GuardLocks } from './guard-locks';
export { configureJobGuard } from './configured-guard';
export type { OverdueResult } from './upkeep/upkeep';
export type * from './jobs/job-guard-options';
export { JobGuard } from './job-guard';
export type { FieldLogger, LogEntry, LogFields, Logger, LogLevel, StructuredLogger } from './log/logger';
export { structured } from './log/logger';
export type * from './notices/webhook';
export { webhook } from './notices/webhook';
