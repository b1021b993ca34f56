import { InvalidLockConfigurationError } from '../../core';
import { parseDuration, parsePositiveDuration } from '../../core/duration';
import { compileLock, withDefaults, type CompiledLock } from '../../core/lock-configuration';
import { checkNameLength, DEFAULT_NAME_LENGTH } from '../../core/lock-name';
import { checkTimeZone } from '../../ledger/periods/time-zone';
import type { JobGuardOptions, JobLock } from '../job-guard-options';
import { timeFunctionsOf, withReturnedTimes } from './lock-times';

/** The options of a guard that apply to jobs that do not set their own. */
export type JobDefaults = Readonly<ReturnType<typeof checkJobDefaults>>;

/** @throws InvalidLockConfigurationError naming the option */
export function checkJobDefaults(options: JobGuardOptions) {
  const { nameLength = DEFAULT_NAME_LENGTH, defaultTimeZone: timeZone } = options;
  const { defaultLockAtMostFor, defaultLockAtLeastFor, defaultKeepAlive } = options;
  const mostMs =
    defaultLockAtMostFor === undefined
      ? Infinity
      : parsePositiveDuration(defaultLockAtMostFor, 'defaultLockAtMostFor');
  const leastMs = parseDuration(defaultLockAtLeastFor ?? 0, 'defaultLockAtLeastFor');
  const renewEveryMs =
    defaultKeepAlive === undefined || typeof defaultKeepAlive === 'boolean'
      ? 0
      : parsePositiveDuration(defaultKeepAlive, 'defaultKeepAlive');
  if (leastMs > mostMs) {
    throw new InvalidLockConfigurationError(
      `defaultLockAtLeastFor (${defaultLockAtLeastFor}) is longer than defaultLockAtMostFor (${defaultLockAtMostFor}).`,
    );
  }
  if (renewEveryMs > mostMs / 2) {
    throw new InvalidLockConfigurationError(
      `defaultKeepAlive (${defaultKeepAlive}) is longer than half of defaultLockAtMostFor (${defaultLockAtMostFor}): one late renewal would lose the lease.`,
    );
  }
  if (timeZone !== undefined) checkTimeZone(timeZone, 'defaultTimeZone');
  return {
    nameLength: checkNameLength(nameLength),
    lockAtMostFor: defaultLockAtMostFor,
    lockAtLeastFor: defaultLockAtLeastFor,
    keepAlive: defaultKeepAlive,
    timeZone,
  };
}

/**
 * @param job the name of the job, and the instance of the class of a decorated method
 * @throws InvalidLockConfigurationError naming the lock and the value, and the defaults and functions that it comes from
 */
export function compileLockWithDefaults(
  lock: JobLock<[jobs: never]>,
  defaults: JobDefaults,
  { job, instance }: { readonly job: string; readonly instance: unknown },
): CompiledLock {
  const timed = withReturnedTimes(lock, job, instance);
  try {
    return compileLock(withDefaults(timed, defaults), defaults.nameLength, job);
  } catch (error) {
    if (!(error instanceof InvalidLockConfigurationError)) throw error;
    const inherited = (['lockAtMostFor', 'lockAtLeastFor', 'keepAlive'] as const).filter(
      (option) =>
        lock[option] === undefined && defaults[option] !== undefined && error.message.includes(`${option} (`),
    );
    const returned = timeFunctionsOf(lock).filter((option) => error.message.includes(option));
    const named =
      returned.length === 0
        ? error
        : new InvalidLockConfigurationError(
            `${error.message} A function of job '${job}' returned this ${returned.join(' and ')}.`,
            { cause: error },
          );
    if (inherited.length === 0) throw named;
    throw new InvalidLockConfigurationError(
      `${named.message} The job does not set ${inherited.join(' and ')}, so the guard's default applies.`,
      { cause: error },
    );
  }
}
