export { SchedulerLock } from './scheduler-lock';
export type { SchedulerLockDecorator, Skippable } from './skippable';
