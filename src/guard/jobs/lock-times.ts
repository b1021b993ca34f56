import type { Duration, LockConfiguration } from '../../core';
import { parseDuration } from '../../core/duration';
import { callOption } from '../../core/options';
import type { JobLock } from './job-guard-options';

type TimedLock = JobLock<[jobs: never]>;
type TimeOption = 'lockAtMostFor' | 'lockAtLeastFor';

export function timeFunctionsOf(lock: TimedLock): readonly TimeOption[] {
  return (['lockAtMostFor', 'lockAtLeastFor'] as const).filter(
    (option) => typeof lock[option] === 'function',
  );
}

/** @throws InvalidLockConfigurationError naming the job and the option, if a function throws or returns no duration */
export function withReturnedTimes(lock: TimedLock, job: string, instance: unknown): LockConfiguration {
  return withTimes(lock, (time, option) => {
    const what = `${option} of job '${job}'`;
    const failed = `${what} threw an error. The function must return a duration, such as '10m'.`;
    const returned = callOption(() => time(instance as never), failed);
    parseDuration(returned, `${what}, returned by its function,`);
    return returned;
  });
}

/** @param call returns the time of a function. Default: it is left out. */
export function withTimes(
  lock: TimedLock,
  call: (time: (jobs: never) => Duration, option: TimeOption) => Duration | undefined = () => undefined,
): LockConfiguration {
  const timeOf = (option: TimeOption): Duration | undefined => {
    const time = lock[option];
    return typeof time === 'function' ? call(time, option) : time;
  };
  return { ...lock, lockAtMostFor: timeOf('lockAtMostFor'), lockAtLeastFor: timeOf('lockAtLeastFor') };
}
