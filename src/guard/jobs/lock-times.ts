import { InvalidLockConfigurationError, type Duration, type LockConfiguration } from '../../core';
import { callOption, describeValue } from '../../core/options';
import type { JobLock } from '../job-guard-options';

type TimedLock = JobLock<[jobs: never]>;
type TimeOption = 'lockAtMostFor' | 'lockAtLeastFor';
type TimeFunction = (jobs: never) => Duration;

/** The options that are functions. */
export function timeFunctionsOf(lock: TimedLock): readonly TimeOption[] {
  return (['lockAtMostFor', 'lockAtLeastFor'] as const).filter(
    (option) => typeof lock[option] === 'function',
  );
}

/** The lock without the times that functions return, which a guard calls later. */
export function withFixedTimes(lock: TimedLock): LockConfiguration {
  return withTimes(lock, () => undefined);
}

/**
 * Calls the functions of a lock.
 *
 * @param instance of the class of a decorated method
 * @throws InvalidLockConfigurationError naming the job and the option, if a function throws or returns no duration
 */
export function withReturnedTimes(lock: TimedLock, job: string, instance: unknown): LockConfiguration {
  return withTimes(lock, (time, option) => {
    const what = `${option} of job '${job}'`;
    const remedy = `The function must return a duration, such as '10m'.`;
    const returned: unknown = callOption(() => time(instance as never), `${what} threw an error. ${remedy}`);
    // Other checks also apply to the times of other locks.
    if (typeof returned === 'string' || typeof returned === 'number') return returned;
    throw new InvalidLockConfigurationError(`${what} returned ${describeValue(returned)}. ${remedy}`);
  });
}

function withTimes(
  lock: TimedLock,
  call: (time: TimeFunction, option: TimeOption) => Duration | undefined,
): LockConfiguration {
  const timeOf = (option: TimeOption): Duration | undefined => {
    const time = lock[option];
    return typeof time === 'function' ? call(time, option) : time;
  };
  return { ...lock, lockAtMostFor: timeOf('lockAtMostFor'), lockAtLeastFor: timeOf('lockAtLeastFor') };
}
