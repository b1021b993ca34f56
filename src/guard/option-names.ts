import { InvalidLockConfigurationError } from '../core';
import type { GuardConfiguration } from './job';

/** The options of a job that have more than one word, its `oncePer` and its retry included. */
const JOB_OPTIONS = optionNames([
  ...['lockAtMostFor', 'lockAtLeastFor', 'keepAlive', 'maxHold', 'nameLength', 'oncePer', 'scheduledAt'],
  ...['timeZone', 'dayStart', 'onCrash', 'startDeadline', 'maxSkew'],
  ...['catchUp', 'catchUpWindow', 'catchUpLimit'],
  ...['maxAttempts', 'minDelay', 'maxDelay'],
]);

/**
 * TypeScript finds a misspelt option. In JavaScript the job would run without it.
 *
 * @throws InvalidLockConfigurationError naming the lock and the option
 */
export function checkJobOptions({ name, oncePer, ...others }: GuardConfiguration): void {
  for (const options of [others, oncePer, oncePer?.retry])
    checkOptionNames(options ?? {}, JOB_OPTIONS, `lock '${name}'`);
}

function optionNames(names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [name.toLowerCase(), name]));
}

function checkOptionNames(options: object, known: ReadonlyMap<string, string>, owner: string): void {
  for (const key of Object.keys(options)) {
    const meant = known.get(key.toLowerCase());
    if (meant !== undefined && meant !== key) {
      throw new InvalidLockConfigurationError(
        `Unknown option '${key}' for ${owner}. Did you mean '${meant}'?`,
      );
    }
  }
}
