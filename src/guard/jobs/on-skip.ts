import { InvalidLockConfigurationError, JobSkippedError, type SkipReason } from '../../core';
import { describeValue } from '../../core/describe-value';

/** @throws InvalidLockConfigurationError for an invalid value */
export function checkOnSkip(onSkip: unknown, job: string): void {
  if (onSkip === undefined || onSkip === 'resolve' || onSkip === 'throw') return;
  throw new InvalidLockConfigurationError(
    `onSkip of job '${job}' is ${describeValue(onSkip)}: it must be 'resolve' or 'throw'.`,
  );
}

/** @param lock the name of the job's lock */
export function jobSkippedError(lock: string, reason: SkipReason): JobSkippedError {
  return new JobSkippedError(`The job with lock '${lock}' was skipped: ${reason}.`, { reason });
}
