import { functionDecorator, refusePlace } from '../../decorator/function-decorator';
import { addSchedule } from '../../guard/calls/guarded-method';
import { checkedSchedule, type ScheduleOptions } from './cron-schedule';

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
  const schedule = checkedSchedule(expression, options);
  const label = `@Scheduled('${expression}')`;
  return functionDecorator(label, (method, name, isPrivate) => {
    if (isPrivate) refusePlace(label, `the private '${name}', which no scheduler can call`);
    addSchedule(method, schedule);
    return method;
  }) as ScheduledDecorator;
}
