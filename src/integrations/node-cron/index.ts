import './peer';
export type { ScheduleOptions } from './cron-schedule';
export type { ScheduledDecorator } from './scheduled';
export { Scheduled } from './scheduled';
export type { ScheduleJobsOptions } from './schedule-jobs';
export { scheduleJobs } from './schedule-jobs';
export { scheduleLocked } from './schedule-locked';
