import { functionDecorator, refusePlace } from '../../decorator/function-decorator';
import type { AnyMethod } from '../../decorator/skippable';
import { recordTimeZone } from '../../guard/guarded-method';
import { checkSchedule, type CronSchedule, type ScheduleOptions } from './cron-schedule';

/* eslint-disable @typescript-eslint/no-explicit-any -- inferring a function type as a whole needs `any` in its constraint */

/** A scheduled method takes no arguments: its tick has none to give. */
type Tick = (this: any) => any;

/** One function for both kinds of decorators. */
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
 * Says when a guarded method is due; `scheduleJobs` makes the tasks. May stand more than once on a method, in any order
 * with `@SchedulerLock` and `@OncePer…`, whose business day is in its `timeZone` unless they say otherwise.
 *
 * @param expression five fields, or six with seconds first
 * @throws InvalidLockConfigurationError when it is applied, naming the expression, the zone, the tolerance or the delay
 * @throws InvalidLockUseError on what no scheduler could call: an accessor, a class, a private method
 */
export function Scheduled(expression: string, options: ScheduleOptions = {}): ScheduledDecorator {
  const schedule: CronSchedule = { ...options, expression };
  checkSchedule(schedule);
  const label = `@Scheduled('${expression}')`;
  return functionDecorator(label, (method, { name, isPrivate }) =>
    isPrivate
      ? refusePlace(label, `the private '${name}', where no scheduler finds it`)
      : mark(method, schedule),
  ) as ScheduledDecorator;
}

export function schedulesOf(value: unknown): readonly CronSchedule[] {
  return typeof value === 'function' && SCHEDULES in value
    ? (value[SCHEDULES] as readonly CronSchedule[])
    : [];
}

function mark(method: AnyMethod, schedule: CronSchedule): AnyMethod {
  // A field's function may be that of another instance as well, and have this very mark.
  const value = [...new Set([...schedulesOf(method), schedule])];
  recordTimeZone(method, schedule.timeZone);
  return Object.defineProperty(method, SCHEDULES, { value, enumerable: true, configurable: true });
}
