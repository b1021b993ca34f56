import { InvalidLockConfigurationError, type LockConfiguration } from '../../core';
import { parseDuration, parsePositiveDuration } from '../../core/duration';
import { compileLock, withDefaults, type CompiledLock } from '../../core/lock-configuration';
import { checkNameLength, DEFAULT_NAME_LENGTH } from '../../core/lock-name';
import { checkTimeZone } from '../../ledger/periods/time-zone';
import type { JobGuardOptions } from './job-guard-options';

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

/** @throws InvalidLockConfigurationError naming the lock and the value, and the defaults that contradict it */
export function compileLockWithDefaults(
  lock: LockConfiguration,
  defaults: JobDefaults,
  job: string,
): CompiledLock {
  try {
    return compileLock(withDefaults(lock, defaults), defaults.nameLength, job);
  } catch (error) {
    if (!(error instanceof InvalidLockConfigurationError)) throw error;
    const inherited = (['lockAtMostFor', 'lockAtLeastFor', 'keepAlive'] as const).filter(
      (option) =>
        lock[option] === undefined && defaults[option] !== undefined && error.message.includes(`${option} (`),
    );
    if (inherited.length === 0) throw error;
    throw new InvalidLockConfigurationError(
      `${error.message} The job does not set ${inherited.join(' and ')}, so the guard's default applies.`,
      { cause: error },
    );
  }
}
