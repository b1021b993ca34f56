/**
 * What an application configures once: a `JobGuard` holds the lock provider, the defaults, the events and the logger,
 * and everything that is guarded runs through it. It is also what is closed: no new runs, the running ones waited for,
 * their locks released.
 *
 * Nothing runs unguarded. A guarded method belongs to the guard that scheduled its instance, else to the configured
 * one, else calling it is an error.
 */
export type { CloseOptions, CloseResult } from './closing/closing';
export { configureJobGuard } from './configured-guard';
export type { OverdueResult } from './overdue-runs';
export type { GuardConfiguration, JobConfiguration, JobGuardOptions, WrapOptions } from './job-guard-options';
export { JobGuard } from './job-guard';
export type { Logger } from './logger';
