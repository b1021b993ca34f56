import { functionDecorator, refusePlace } from '../../decorator/function-decorator';
import type { AnyMethod } from '../../decorator/skippable';
import { recordTimeZone } from '../../guard/guarded-method';
import { checkSchedule, type CronSchedule, type ScheduleOptions } from './cron-schedule';

/* eslint-disable @typescript-eslint/no-explicit-any -- inferring a function type as a whole needs `any` in its constraint */

/** A scheduled method takes no arguments, because a tick passes none. */
type Tick = (this: any) => any;

/** A decorator for legacy and standard mode. */
export interface ScheduledDecorator {
  <This, F extends Tick>(value: F, context: ClassMethodDecoratorContext<This, F>): F;
  <This, F extends Tick>(
    value: undefined,
    context: ClassFieldDecoratorContext<This, F>,
  ): (this: This, initial: F) => F;
  <F extends Tick>(target: object, key: string | symbol, descriptor: TypedPropertyDescriptor<F>): void;
}

const SCHEDULES = Symbol.for('cronlatch.v0.schedules');

/**
 * Sets the schedule of a guarded method. `scheduleJobs` creates its node-cron task. You can use it more than once on a
 * method, in any order with `@SchedulerLock` and `@OncePer…`. The business day of a once-per job uses this `timeZone`
 * unless the job sets its own.
 *
 * @param expression a cron expression of five fields, or of six with seconds first
 * @throws InvalidLockConfigurationError when the decorator is applied, naming the expression, the time zone, the
 * tolerance or the delay
 * @throws InvalidLockUseError if no scheduler could call the target: an accessor, a class or a private method
 */
export function Scheduled(expression: string, options: ScheduleOptions = {}): ScheduledDecorator {
  const schedule: CronSchedule = { ...options, expression };
  checkSchedule(schedule);
  const label = `@Scheduled('${expression}')`;
  return functionDecorator(label, (method, name, isPrivate) =>
    isPrivate
      ? refusePlace(label, `the private '${name}', which no scheduler can call`)
      : mark(method, schedule),
  ) as ScheduledDecorator;
}

export function schedulesOf(value: unknown): readonly CronSchedule[] {
  return typeof value === 'function' && SCHEDULES in value
    ? (value[SCHEDULES] as readonly CronSchedule[])
    : [];
}

function mark(method: AnyMethod, schedule: CronSchedule): AnyMethod {
  // Instances can share the function of a field, which then already has this mark.
  const value = [...new Set([...schedulesOf(method), schedule])];
  recordTimeZone(method, schedule.timeZone);
  return Object.defineProperty(method, SCHEDULES, { value, enumerable: true, configurable: true });
}
