import { InvalidLockConfigurationError, type LockedTask } from '../core';
import type { JobPolicy } from '../ledger/policy/job-policy';
import { policyOf, type GuardConfiguration } from './job-configuration';

/** A handler as an integration knows it. */
export interface JobRegistration {
  readonly configuration: GuardConfiguration;
  /** Calls the handler with these arguments. */
  readonly call: (args: readonly unknown[]) => LockedTask<unknown>;
  /** Names the handler, for messages. */
  readonly place: string;
  /** Whether it may be brought back here now. Left out: it may. */
  readonly isReady?: (() => boolean) | undefined;
}

/** A handler whose scheduler has dropped ticks. */
export type DroppedJob = Pick<JobRegistration, 'configuration' | 'call'>;

/** A once-per job that can be brought back without a tick. */
export interface RegisteredJob extends JobRegistration {
  readonly policy: JobPolicy;
}

/** The once-per jobs of one guard, by name. */
export class RegisteredJobs {
  readonly #jobs = new Map<string, RegisteredJob>();

  /**
   * All or none.
   *
   * @throws InvalidLockConfigurationError for what cannot be meant, and a name that another job has
   */
  add(registrations: readonly JobRegistration[]): void {
    const jobs = new Map(this.#jobs);
    for (const registration of registrations) {
      const { oncePer } = registration.configuration;
      if (oncePer === undefined) continue;
      const policy = policyOf(registration.configuration, oncePer);
      const earlier = jobs.get(policy.job);
      if (earlier !== undefined) refuseTwice(policy.job, earlier.place, registration.place);
      jobs.set(policy.job, { ...registration, policy });
    }
    for (const [name, job] of jobs) this.#jobs.set(name, job);
  }

  get(name: string): RegisteredJob | undefined {
    return this.#jobs.get(name);
  }

  get all(): readonly RegisteredJob[] {
    return [...this.#jobs.values()];
  }
}

function refuseTwice(name: string, earlier: string, place: string): never {
  throw new InvalidLockConfigurationError(
    `Two once-per jobs are called '${name}', ${earlier} and ${place}: the ledger knows a job by its name, so give each one of its own.`,
  );
}
