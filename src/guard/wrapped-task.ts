import type { EventHub } from '../core';
import type { GuardConfiguration } from './job-configuration';
import type { JobGuard } from './job-guard';
import type { WrapOptions } from './job-guard-options';
import { scheduledInstant } from './scheduled-instant';

/** What `guard.wrap` makes of a task. */
export function wrappedTask<A extends unknown[], T>(
  guard: JobGuard,
  events: EventHub,
  configuration: GuardConfiguration,
  task: (...args: A) => T | PromiseLike<T>,
  { onError = 'report', scheduledAt }: WrapOptions<A>,
): (...args: A) => Promise<T | undefined> {
  const { name } = configuration;
  const call = (args: readonly unknown[]) => (): T | PromiseLike<T> => task(...(args as A));
  const instantOf = (args: A): Date | undefined => {
    try {
      return scheduledInstant(scheduledAt, args, name);
    } catch (error) {
      events.emit('lock:failed', { name, scheduledAt: undefined, isAskedAgain: false, error });
      throw error;
    }
  };
  guard.check(configuration);
  guard.register([{ configuration, call, place: `guard.wrap('${name}')` }]);
  return async (...args) => {
    try {
      const tick = { ...configuration, scheduledAt: instantOf(args) };
      const result = await guard.execute(tick, { task: call(args), args, call });
      return result.executed ? result.value : undefined;
    } catch (error) {
      if (onError === 'throw') throw error;
      return undefined; // It was reported, as lock:failed or run:failed.
    }
  };
}
