import { DAY_MS, parseDuration, parsePositiveDuration, type Duration } from './duration';
import { InvalidLockConfigurationError } from './errors';
import { checkLockName, checkNameLength, DEFAULT_NAME_LENGTH } from './lock-name';

/** The name of a lock, and its times. All times are durations, never instants, so that one object serves all runs. */
export interface LockConfiguration {
  /** 1–64 characters, compared byte for byte: `Job` and `job` are two locks. */
  readonly name: string;
  /**
   * After a crash, the lock is free again this long after the last acquire or extend. Required, unless the guard has
   * `defaultLockAtMostFor`.
   */
  readonly lockAtMostFor?: Duration | undefined;
  /**
   * The next run begins no earlier than this after the start of a run, however short that run was. Default: the guard's
   * `defaultLockAtLeastFor`, or else 0.
   */
  readonly lockAtLeastFor?: Duration | undefined;
  /**
   * Renews the lease while the job runs: `true` every third of `lockAtMostFor`, or at the given interval. Default: the
   * guard's `defaultKeepAlive`, or else `false`.
   */
  readonly keepAlive?: boolean | Duration | undefined;
  /**
   * With `keepAlive`: the lease ends this long after it was granted, even if the job still runs. Default 24 h, or
   * `lockAtMostFor` if that is longer.
   */
  readonly maxLockDuration?: Duration | undefined;
  /** Lets two jobs share this lock, so that they exclude each other. Otherwise, using a name twice is an error. */
  readonly shared?: boolean | undefined;
  /** The longest allowed name, in characters, up to 255. Set it to the guard's `nameLength`. Default 64. */
  readonly nameLength?: number | undefined;
}

export function withDefaults(
  lock: LockConfiguration,
  defaults: Omit<LockConfiguration, 'name'>,
): LockConfiguration {
  return {
    ...lock,
    lockAtMostFor: lock.lockAtMostFor ?? defaults.lockAtMostFor,
    lockAtLeastFor: lock.lockAtLeastFor ?? defaults.lockAtLeastFor,
    keepAlive: lock.keepAlive ?? defaults.keepAlive,
  };
}

export interface TaskConfiguration extends LockConfiguration {
  /** The events of the run report it. */
  readonly scheduledAt?: Date | undefined;
}

/** A checked configuration, in milliseconds. */
export interface LockTerms {
  readonly name: string;
  readonly lockAtMostForMs: number;
  readonly lockAtLeastForMs: number;
  /** `undefined`: no keep-alive. */
  readonly renewEveryMs: number | undefined;
  readonly maxLockDurationMs: number;
}

/** A checked configuration and its terms, which cannot change any more. */
export type CompiledLock = LockConfiguration & LockTerms & { readonly job: string };

/** The compiled locks, each with the name length that it was checked for. */
const compiled = new WeakMap<LockConfiguration, number>();

/**
 * Checks a configuration once for all of its runs. `checkLockConfiguration` does not parse the result again.
 *
 * @throws InvalidLockConfigurationError naming the lock and the value
 */
export function compileLock(configuration: LockConfiguration, nameLength: number, job: string): CompiledLock {
  const terms = checkLockConfiguration(configuration, nameLength);
  const lock = Object.freeze({ ...configuration, ...terms, job });
  compiled.set(lock, nameLength);
  return lock;
}

/** @throws InvalidLockConfigurationError for a name that a lock cannot have */
export function renameLock(lock: CompiledLock, name: unknown): CompiledLock {
  const nameLength = compiled.get(lock) ?? DEFAULT_NAME_LENGTH;
  checkLockName(name, nameLength);
  const renamed = Object.freeze({ ...lock, name });
  compiled.set(renamed, nameLength);
  return renamed;
}

export function jobOf(configuration: LockConfiguration): string | undefined {
  return compiled.has(configuration) ? (configuration as CompiledLock).job : undefined;
}

/** @throws InvalidLockConfigurationError naming the lock and the value */
export function checkLockConfiguration(
  configuration: LockConfiguration,
  nameLength: number = DEFAULT_NAME_LENGTH,
): LockTerms {
  if ((compiled.get(configuration) ?? Infinity) <= nameLength) return configuration as CompiledLock;
  const { name, lockAtMostFor } = configuration;
  checkLockName(name, nameLength);
  if (lockAtMostFor !== undefined) return checkTimes(configuration);
  throw new InvalidLockConfigurationError(
    `lockAtMostFor of lock '${name}' is missing: set how long a crashed run may block the next one, here or with the guard's defaultLockAtMostFor.`,
  );
}

/** Checks as much as is possible before the guard and its defaults are known. */
export function checkDeclaredConfiguration(configuration: LockConfiguration): void {
  const { name, nameLength = DEFAULT_NAME_LENGTH, maxLockDuration } = configuration;
  checkLockName(name, checkNameLength(nameLength));
  // The guard's defaultKeepAlive may give maxLockDuration a meaning.
  const keepAlive = configuration.keepAlive ?? maxLockDuration !== undefined;
  checkTimes({ ...configuration, keepAlive });
}

/** Without `lockAtMostFor`, nothing is compared with it. */
function checkTimes(configuration: LockConfiguration): LockTerms {
  const { name, lockAtMostFor, lockAtLeastFor = 0, keepAlive = false } = configuration;
  const of = `of lock '${name}'`;
  const lockAtMostForMs =
    lockAtMostFor === undefined ? Infinity : parsePositiveDuration(lockAtMostFor, `lockAtMostFor ${of}`);
  const lockAtLeastForMs = parseDuration(lockAtLeastFor, `lockAtLeastFor ${of}`);
  if (lockAtLeastForMs > lockAtMostForMs)
    throw new InvalidLockConfigurationError(
      `lockAtLeastFor (${lockAtLeastFor}) is longer than lockAtMostFor (${lockAtMostFor}) for lock '${name}'.`,
    );
  const renewEveryMs = checkKeepAlive(keepAlive, lockAtMostForMs, of);
  const maxLockDurationMs = checkMaxLockDuration(configuration, renewEveryMs, lockAtMostForMs, of);
  return { name, lockAtMostForMs, lockAtLeastForMs, renewEveryMs, maxLockDurationMs };
}

function checkKeepAlive(
  keepAlive: boolean | Duration,
  lockAtMostForMs: number,
  of: string,
): number | undefined {
  if (keepAlive === false) return undefined;
  if (keepAlive === true) return lockAtMostForMs / 3;
  const renewEveryMs = parsePositiveDuration(keepAlive, `keepAlive ${of}`);
  if (renewEveryMs <= lockAtMostForMs / 2) return renewEveryMs;
  throw new InvalidLockConfigurationError(
    `keepAlive (${keepAlive}) ${of} is longer than half of lockAtMostFor: one late renewal would lose the lease.`,
  );
}

function checkMaxLockDuration(
  { lockAtMostFor, maxLockDuration }: LockConfiguration,
  renewEveryMs: number | undefined,
  lockAtMostForMs: number,
  of: string,
): number {
  if (maxLockDuration === undefined) return Math.max(DAY_MS, lockAtMostForMs);
  if (renewEveryMs === undefined)
    throw new InvalidLockConfigurationError(
      `maxLockDuration ${of} has no meaning without keepAlive: lockAtMostFor already ends the lease.`,
    );
  const maxLockDurationMs = parsePositiveDuration(maxLockDuration, `maxLockDuration ${of}`);
  if (lockAtMostFor === undefined || maxLockDurationMs >= lockAtMostForMs) return maxLockDurationMs;
  throw new InvalidLockConfigurationError(
    `maxLockDuration (${maxLockDuration}) ${of} is shorter than its lockAtMostFor.`,
  );
}
