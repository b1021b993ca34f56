import { InvalidLockConfigurationError } from '../../core';
import type { GuardConfiguration, JobGuardOptions } from '../job-guard-options';

/** Old names of options. */
const RENAMED = {
  guard: { dueEvery: 'pollInterval' },
  lock: { maxHold: 'maxLockDuration' },
  retry: { minDelay: 'initialDelay', backoff: 'factor' },
} as const;

const GUARD_OPTIONS = optionNames(
  [
    ...['lockProvider', 'runStore', 'pollInterval', 'statementTimeout', 'nameLength'],
    ...['defaultLockAtMostFor', 'defaultLockAtLeastFor', 'defaultKeepAlive', 'defaultTimeZone'],
  ],
  RENAMED.guard,
);

/** The options of more than one word of a job, its `oncePer` and its retry. */
const JOB_OPTIONS = [
  ...['lockAtMostFor', 'lockAtLeastFor', 'keepAlive', 'maxLockDuration', 'nameLength', 'oncePer', 'onSkip'],
  ...['scheduledAt', 'timeZone', 'dayStart', 'onCrash', 'startDeadline', 'maxSkew'],
  ...['catchUp', 'catchUpWindow', 'catchUpLimit', 'maxAttempts', 'initialDelay', 'maxDelay'],
];
const LOCK_OPTIONS = optionNames(JOB_OPTIONS, RENAMED.lock);
const RETRY_OPTIONS = optionNames(JOB_OPTIONS, RENAMED.retry);

/**
 * Finds misspelt and renamed options for JavaScript, where the guard would silently ignore them.
 *
 * @throws InvalidLockConfigurationError naming the option
 */
export function checkGuardOptions(options: JobGuardOptions): void {
  checkOptionNames(options, GUARD_OPTIONS, 'the job guard');
}

/**
 * The same for the options of a job.
 *
 * @throws InvalidLockConfigurationError naming the lock and the option
 */
export function checkJobOptions({ name, oncePer, ...others }: GuardConfiguration): void {
  const owner = `lock '${name}'`;
  for (const options of [others, oncePer ?? {}]) checkOptionNames(options, LOCK_OPTIONS, owner);
  checkOptionNames(oncePer?.retry ?? {}, RETRY_OPTIONS, owner);
}

/** @returns the correct names, by the lower-case spelling of a correct or an old name */
function optionNames(
  names: readonly string[],
  renamed: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  const pairs = [...names.map((name) => [name, name] as const), ...Object.entries(renamed)];
  return new Map(pairs.map(([written, correct]) => [written.toLowerCase(), correct]));
}

function checkOptionNames(options: object, known: ReadonlyMap<string, string>, owner: string): void {
  for (const key of Object.keys(options)) {
    const correct = known.get(key.toLowerCase());
    if (correct !== undefined && correct !== key) {
      throw new InvalidLockConfigurationError(
        `Unknown option '${key}' for ${owner}. Did you mean '${correct}'?`,
      );
    }
  }
}
