/**
 * Schedules guarded jobs with node-cron, and coordinates its distributed mode with the ledger.
 *
 * @packageDocumentation
 */
import './peer';
export type { ScheduleOptions } from './cron-schedule';
export { Scheduled, type ScheduledDecorator } from './scheduled';
export { scheduleDistributed, type ScheduleDistributedOptions } from './schedule-distributed';
export { scheduleJobs, scheduleLocked, type ScheduleJobsOptions } from './schedule-jobs';
