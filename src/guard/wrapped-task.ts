import type { EventHub } from '../core';
import type { GuardIntegration } from './integration';
import type { GuardConfiguration } from './job';
import type { WrapOptions } from './job-guard-options';
import { scheduledInstant } from './scheduled-instant';

interface WrapRequest<A extends unknown[], T> extends WrapOptions<A> {
  readonly integration: GuardIntegration;
  readonly events: EventHub;
  readonly configuration: GuardConfiguration;
  readonly task: (...args: A) => T | PromiseLike<T>;
}

/** The function that `guard.wrap` returns. */
export function wrappedTask<A extends unknown[], T>(
  request: WrapRequest<A, T>,
): (...args: A) => Promise<T | undefined> {
  const { integration, events, configuration, task, onError = 'report', scheduledAt } = request;
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
  const [job] = integration.admit([{ configuration, call, place: `guard.wrap('${name}')` }]);
  return async (...args) => {
    try {
      const tick = { task: call(args), args, call, scheduledAt: instantOf(args) };
      const result = await integration.execute(job, tick);
      return result.executed ? result.value : undefined;
    } catch (error) {
      if (onError === 'throw') throw error;
      return undefined; // It was reported, as lock:failed or run:failed.
    }
  };
}
