export { OncePer, OncePerDay } from './once-per';
export { SchedulerLock } from './scheduler-lock';
export type { Asynchronous, SchedulerLockDecorator, Skippable, ThrowingLockDecorator } from './skippable';
