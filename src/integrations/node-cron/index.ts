/**
 * Schedules guarded jobs with node-cron, and coordinates its distributed mode with the ledger.
 *
 * @packageDocumentation
 */
import './peer';
export type { ScheduleOptions } from './cron-schedule';
export type { LedgerRunCoordinatorOptions } from './ledger-run-coordinator';
export { LedgerRunCoordinator } from './ledger-run-coordinator';
export type { ScheduledDecorator } from './scheduled';
export { Scheduled } from './scheduled';
export type { ScheduleDistributedOptions } from './schedule-distributed';
export { scheduleDistributed } from './schedule-distributed';
export type { ScheduleJobsOptions } from './schedule-jobs';
export { scheduleJobs, scheduleLocked } from './schedule-jobs';
