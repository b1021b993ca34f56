import { InvalidLockConfigurationError } from '../core';
import type { GuardConfiguration } from './job-configuration';

/** The options of a job that have more than one word, its `oncePer` and its retry included. */
const OPTIONS = [
  ...['lockAtMostFor', 'lockAtLeastFor', 'keepAlive', 'maxHold', 'nameLength', 'oncePer', 'scheduledAt'],
  ...[
    'timeZone',
    'dayStart',
    'onCrash',
    'startDeadline',
    'catchUp',
    'catchUpWindow',
    'catchUpLimit',
    'maxSkew',
  ],
  ...['maxAttempts', 'minDelay', 'maxDelay'],
];
const BY_LOWER_CASE = new Map(OPTIONS.map((option) => [option.toLowerCase(), option]));

/**
 * In JavaScript nobody says that `keepalive` or `oncrash` is no option, and the job would run without it.
 *
 * @throws InvalidLockConfigurationError naming the lock and the option
 */
export function checkSpelling({ name, oncePer, ...others }: GuardConfiguration): void {
  for (const options of [others, oncePer, oncePer?.retry]) {
    for (const key of Object.keys(options ?? {})) {
      const meant = BY_LOWER_CASE.get(key.toLowerCase());
      if (meant !== undefined && meant !== key)
        throw new InvalidLockConfigurationError(`'${key}' of lock '${name}' is no option: write ${meant}.`);
    }
  }
}
