export { OncePer, OncePerDay } from './once-per';
export { SchedulerLock } from './scheduler-lock';
export type { SchedulerLockDecorator, Skippable } from './skippable';
