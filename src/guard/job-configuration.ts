import { InvalidLockConfigurationError, type LockConfiguration, type TaskConfiguration } from '../core';
import type { OncePerConfiguration } from '../ledger';
import { parseJobPolicy, type JobPolicy } from '../ledger/policy/job-policy';

/** What a job is guarded with: a lock, and, if it says so, once per period. */
export interface GuardConfiguration extends LockConfiguration {
  /** The job runs once per period. Its name is `oncePer.name`, or else that of the lock. */
  readonly oncePer?: OncePerConfiguration | undefined;
}

/** A guard configuration for one run. */
export interface JobConfiguration extends GuardConfiguration, TaskConfiguration {
  /** With `oncePer`: the instant that decides the period, instead of `scheduledAt` and of now. */
  readonly at?: Date | undefined;
}

/**
 * @returns what the ledger is to do with the job
 * @throws InvalidLockConfigurationError naming the job, the option and its value
 */
export function policyOf(lock: LockConfiguration, oncePer: OncePerConfiguration): JobPolicy {
  if (oncePer.name === undefined && lock.shared) {
    throw new InvalidLockConfigurationError(
      `The once-per job under lock '${lock.name}' has no name of its own, and needs one, for the lock is shared: give it { name: … } beside its period.`,
    );
  }
  return parseJobPolicy(oncePer, oncePer.name ?? lock.name);
}
