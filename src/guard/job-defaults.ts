import type { Duration } from '../core';
import { parsePositiveDuration } from '../core/duration';
import { checkLockConfiguration } from '../core/lock-configuration';
import { checkNameLength, DEFAULT_NAME_LENGTH } from '../core/lock-name';
import { policyOf, type GuardConfiguration } from './job-configuration';
import type { JobGuardOptions } from './job-guard-options';
import { checkSpelling } from './spelling';

/** What a guard adds to the configurations of its jobs, and what it refuses in them. */
export class JobDefaults {
  readonly #nameLength: number;
  readonly #lockAtMostFor: Duration | undefined;

  /** @throws InvalidLockConfigurationError naming the option */
  constructor({
    nameLength = DEFAULT_NAME_LENGTH,
    defaultLockAtMostFor,
  }: Pick<JobGuardOptions, 'nameLength' | 'defaultLockAtMostFor'>) {
    if (defaultLockAtMostFor !== undefined)
      parsePositiveDuration(defaultLockAtMostFor, 'defaultLockAtMostFor');
    this.#nameLength = checkNameLength(nameLength);
    this.#lockAtMostFor = defaultLockAtMostFor;
  }

  complete<C extends GuardConfiguration>(configuration: C): C {
    return { ...configuration, lockAtMostFor: configuration.lockAtMostFor ?? this.#lockAtMostFor };
  }

  /** @throws InvalidLockConfigurationError naming the lock or the job, and the value */
  checked<C extends GuardConfiguration>(configuration: C): C {
    const complete = this.complete(configuration);
    checkLockConfiguration(complete, this.#nameLength);
    checkSpelling(configuration);
    if (complete.oncePer !== undefined) policyOf(complete, complete.oncePer);
    return complete;
  }
}
