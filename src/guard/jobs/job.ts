import { InvalidLockConfigurationError, type LockConfiguration, type LockedTask } from '../../core';
import { hostTimeZone } from '../../core/clock';
import { parseDuration, parsePositiveDuration } from '../../core/duration';
import { compileLock, withDefaults, type CompiledLock } from '../../core/lock-configuration';
import { checkNameLength, DEFAULT_NAME_LENGTH } from '../../core/lock-name';
import type { DeclaredJob, DeclaredSchedule } from '../../ledger';
import type { Expectation } from '../../ledger/expected';
import { everyDay } from '../../ledger/periods/calendar';
import { checkTimeZone } from '../../ledger/periods/time-zone';
import { parseJobPolicy, type JobPolicy } from '../../ledger/policy/job-policy';
import { withReturnedTimes } from './lock-functions';
import type { JobGuardOptions, LabelledConfiguration } from './job-guard-options';
import { checkJobOptions, parseSwitch } from './check-options';

/** A job whose configuration is checked and parsed once, so that its ticks do not have to. */
export type Job = LockJob | OncePerJob;

interface LockJob {
  readonly lock: CompiledLock;
  /** Throws an InvalidLockConfigurationError if the option `enabled` fails. */
  readonly isEnabled: () => boolean;
  readonly policy: undefined;
  /** Returns the name of the lock for the arguments of a call. `lock.name` is then only a label. */
  readonly nameOf: LabelledConfiguration['nameOf'];
}

export interface OncePerJob extends Omit<LockJob, 'policy'> {
  readonly policy: JobPolicy;
  readonly nameOf: undefined;
}

/** A job as an integration declares it to the guard. */
export interface JobDeclaration {
  /** The class and method, or the call that declares the job. For messages. */
  readonly place: string;
  /** Must not change any more. */
  readonly configuration: LabelledConfiguration;
  readonly instance?: object | undefined;
  readonly call: (args: readonly unknown[]) => LockedTask<unknown>;
  /** Whether an overdue run may start here now. Default: always. */
  readonly isReady?: (() => boolean) | undefined;
  /**
   * Set for a job that the integration schedules itself. No other scheduled job may have its lock. `maxRandomDelay`: its ticks
   * come up to so many milliseconds later.
   */
  readonly schedules?:
    readonly (DeclaredSchedule & { readonly maxRandomDelay?: number | undefined })[] | undefined;
  /** A scheduler has accepted the schedules, so none is refused here. */
  readonly isAccepted?: true | undefined;
  /** A call without a scheduled time is the tick of the newest one. */
  readonly takesNewestTime?: true | undefined;
}

export interface Expected {
  /** The register shows since when the job is declared as it is. Until then, nothing is expected. */
  readonly expectation: Expectation & { declaredAt: Date | undefined };
}

/** A job that was declared to the guard before its first tick. */
export type AdmittedJob = Job & JobDeclaration & Expected;
export type AdmittedOncePerJob = OncePerJob & JobDeclaration & Expected;

export interface JobCall<T> {
  /** The handler with the arguments of the call. */
  readonly task: LockedTask<T>;
  readonly args: readonly unknown[];
  /** The handler with other arguments, for an overdue run. */
  readonly call: JobDeclaration['call'];
  readonly scheduledAt?: Date | undefined;
  /** Decides the period, instead of `scheduledAt` or the current time. */
  readonly at?: Date | undefined;
  /** The source of the scheduled time, if a scheduler made the call. */
  readonly invocation?: { takeScheduledTime(job: string, scope: string): boolean } | undefined;
  /** Replaces the scope that the arguments decide. */
  readonly scope?: string;
  /** `false`: the caller repeats the call itself. */
  readonly willRetry?: boolean;
}

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
function compileLockWithDefaults(lock: LockConfiguration, defaults: JobDefaults, job: string): CompiledLock {
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

/** @throws InvalidLockConfigurationError naming the lock or the job, the option and its value */
export function compileJob(
  configuration: LabelledConfiguration,
  defaults: JobDefaults,
  instance: unknown,
): Job {
  const { oncePer, enabled, nameOf, ...declared } = configuration;
  const job = oncePer?.name ?? declared.name;
  const lock = compileLockWithDefaults(withReturnedTimes(declared, job, instance), defaults, job);
  checkJobOptions({ ...declared, oncePer });
  const isEnabled = parseSwitch(enabled ?? true, `job '${job}'`);
  if (oncePer === undefined) return { lock, policy: undefined, isEnabled, nameOf };
  if (nameOf !== undefined) {
    throw new InvalidLockConfigurationError(
      `Job '${lock.name}' runs once per period, so its name cannot be a function. Give it a fixed name, and use scope, which gets the arguments of the call: scope: (orderId) => orderId.`,
    );
  }
  if (oncePer.name === undefined && lock.shared) {
    throw new InvalidLockConfigurationError(
      `The once-per job with the shared lock '${lock.name}' needs a name of its own. Pass one beside its period, as in { name: 'close-day' }.`,
    );
  }
  const policy = parseJobPolicy({ ...oncePer, timeZone: oncePer.timeZone ?? defaults.timeZone }, job);
  return { lock, policy, isEnabled, nameOf };
}

/** What the register shows of a job. Its keys always have the same order, because declarations are compared as JSON. */
export function declaredJobOf(job: AdmittedJob): DeclaredJob {
  const { lock, policy, schedules = [], configuration } = job;
  return {
    lock: lock.name,
    hasNameFunction: job.nameOf && true,
    lockAtMostForMs: lock.lockAtMostForMs,
    lockAtLeastForMs: lock.lockAtLeastForMs,
    renewEveryMs: lock.renewEveryMs,
    maxLockDurationMs: lock.renewEveryMs && lock.maxLockDurationMs,
    kind: kindOf(policy),
    timeZone: policy?.period.timeZone,
    dayStart: policy?.period.dayStart,
    target: policy?.period.target,
    schedules: schedules.map(withTimeZone),
    retry: policy?.retry,
    onCrash: policy?.onCrash,
    catchUp: policy?.catchUp,
    startDeadlineMs: policy?.startDeadlineMs,
    hasCalendar: policy !== undefined && policy.calendar !== everyDay,
    scope: typeof policy?.scope === 'string' && policy.scope !== '' ? policy.scope : undefined,
    hasScopeFunction: typeof policy?.scope === 'function',
    disabled: configuration.enabled === false ? 'job' : undefined,
  };
}

/** No reader knows the time zone of this host. */
function withTimeZone(schedule: DeclaredSchedule): DeclaredSchedule {
  if (!('expression' in schedule)) return schedule;
  const { expression, timeZone = hostTimeZone(), dialect } = schedule;
  return { expression, timeZone, dialect };
}

function kindOf(policy: JobPolicy | undefined): DeclaredJob['kind'] {
  if (policy === undefined) return 'lock';
  return typeof policy.period.kind === 'function' ? 'custom' : policy.period.kind;
}
