import { InvalidLockUseError } from '../../core';

/** For what needs to know when the periods of a job begin and end. */
export function notRegistered(job: string): InvalidLockUseError {
  return new InvalidLockUseError(
    `Job '${job}' is not registered with this guard, so its periods are not known here: give its instance to scheduleJobs, or make it by guard.wrap.`,
  );
}
