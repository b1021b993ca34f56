import { types } from 'node:util';
import { InvalidLockConfigurationError, type TaskResult } from '../core';
import { callOption, checkOptionNames } from '../core/options';
import { describeValue } from '../core/describe-value';
import type { GuardIntegration } from './integration';
import type { GuardConfiguration, WrapOptions } from './job-guard-options';
import { checkOnSkip, jobSkippedError } from './jobs/skips';

interface WrapRequest<A extends unknown[], T> {
  readonly options: WrapOptions<A>;
  readonly integration: GuardIntegration;
  readonly configuration: GuardConfiguration;
  readonly task: (...args: A) => T | PromiseLike<T>;
}

/** The function that `guard.wrap` returns. */
export function wrappedTask<A extends unknown[], T>(
  request: WrapRequest<A, T>,
): (...args: A) => Promise<T | undefined> {
  const { integration, configuration, task, options } = request;
  const { name } = configuration;
  checkOptionNames(options, ['onError', 'onSkip', 'scheduledAt'], `guard.wrap('${name}')`);
  const { onError = 'report', onSkip, scheduledAt } = options;
  checkOnSkip(onSkip, name);
  const call = (args: readonly unknown[]) => (): T | PromiseLike<T> => task(...(args as A));
  const scheduledTimeOf = (args: A): Date | undefined => {
    try {
      return readScheduledTime(scheduledAt, args, name);
    } catch (error) {
      integration.reportLost(job, { willRetry: false, error }, [undefined]);
      throw error;
    }
  };
  const [job] = integration.admit([{ configuration, call, place: `guard.wrap('${name}')` }]);
  return async (...args) => {
    let result: TaskResult<T>;
    try {
      const tick = { task: call(args), args, call, scheduledAt: scheduledTimeOf(args) };
      result = await integration.execute(job, tick);
    } catch (error) {
      if (onError === 'throw') throw error;
      return undefined; // An event has reported it: lock:failed or run:failed.
    }
    if (result.executed) return result.value;
    if (onSkip === 'throw') throw jobSkippedError(name, result.reason);
    return undefined;
  };
}

/**
 * Calls the `scheduledAt` option of `guard.wrap` with the arguments of a call.
 *
 * @throws InvalidLockConfigurationError if the option throws or returns an invalid date
 */
function readScheduledTime<A extends unknown[]>(
  scheduledAt: ((...args: A) => Date | undefined) | undefined,
  args: A,
  job: string,
): Date | undefined {
  const read: unknown = callOption(
    () => scheduledAt?.(...args),
    `scheduledAt of job '${job}' threw an error. It must return the scheduled time of every call, or undefined if it is unknown.`,
  );
  if (read === undefined || (types.isDate(read) && !Number.isNaN(read.getTime()))) return read;
  throw new InvalidLockConfigurationError(
    `scheduledAt of job '${job}' returned ${describeValue(read)}. It must return a valid Date, or undefined if the scheduled time is unknown.`,
  );
}
