import { InvalidLockConfigurationError, type LockConfiguration, type LockedTask } from '../../core';
import type { CompiledLock } from '../../core/lock-configuration';
import type { OncePerConfiguration } from '../../ledger';
import { parseJobPolicy, type JobPolicy } from '../../ledger/policy/job-policy';
import type { OpenInvocation } from '../invocation';
import { parseEnabled } from './enabled';
import { compileLockWithDefaults, type JobDefaults } from './job-defaults';
import type { GuardConfiguration, LabelledConfiguration } from '../job-guard-options';
import { checkJobOptions } from './option-names';

/** A job whose configuration is checked and parsed once, so that its ticks do not have to. */
export interface Job {
  readonly lock: CompiledLock;
  /** `undefined` unless the job runs once per period. */
  readonly policy: JobPolicy | undefined;
  /** Throws an InvalidLockConfigurationError if the option `enabled` fails. */
  readonly isEnabled: () => boolean;
  /** Returns the name of the lock for the arguments of a call. `lock.name` is then only a label. */
  readonly nameOf: ((...args: never[]) => string) | undefined;
}

/** A job as an integration declares it to the guard. */
export interface JobDeclaration {
  /** The class and method, or the call that declares the job. For messages. */
  readonly place: string;
  /** Must not change any more. */
  readonly configuration: GuardConfiguration;
  /** Calls the handler with these arguments. */
  readonly call: (args: readonly unknown[]) => LockedTask<unknown>;
  /** Whether an overdue run may start here now. Default: always. */
  readonly isReady?: (() => boolean) | undefined;
  /** Set for a job that the integration schedules itself. No other scheduled job may have its lock. */
  readonly schedules?: readonly { readonly expression: string }[] | undefined;
  /** The time between two ticks, for a schedule that has no expression. */
  readonly intervalMs?: number | undefined;
}

/** A job that was declared to the guard before its first tick. */
export interface AdmittedJob extends Job {
  readonly place: string;
  readonly call: JobDeclaration['call'];
  readonly isReady: () => boolean;
}

/** A job with `oncePer`. */
export type OncePer<J extends Job> = J & { readonly policy: JobPolicy };

/** One call of a job. */
export interface JobCall<T> {
  /** The handler with the arguments of the call. */
  readonly task: LockedTask<T>;
  /** The arguments, for a scope that depends on them. */
  readonly args: readonly unknown[];
  /** The handler with other arguments, for an overdue run. */
  readonly call: JobDeclaration['call'];
  readonly scheduledAt?: Date | undefined;
  /** Decides the period, instead of `scheduledAt` or the current time. */
  readonly at?: Date | undefined;
  /** The source of the scheduled time, if a scheduler made the call. */
  readonly invocation?: OpenInvocation | undefined;
}

/** @throws InvalidLockConfigurationError naming the lock or the job, the option and its value */
export function compileJob(configuration: LabelledConfiguration, defaults: JobDefaults): Job {
  const { oncePer, enabled, nameOf, ...declared } = configuration;
  const lock = compileLockWithDefaults(declared, defaults);
  checkJobOptions(configuration);
  if (oncePer === undefined)
    return { lock, policy: undefined, isEnabled: parseEnabled(enabled, lock.name), nameOf };
  if (nameOf !== undefined) {
    throw new InvalidLockConfigurationError(
      `Job '${lock.name}' runs once per period, so its name cannot be a function. Give it a fixed name, and use scope, which gets the arguments of the call: scope: (orderId) => orderId.`,
    );
  }
  const policy = policyOf(lock, { ...oncePer, timeZone: oncePer.timeZone ?? defaults.timeZone });
  return { lock, policy, isEnabled: parseEnabled(enabled, policy.job), nameOf };
}

export function isOncePer<J extends Job>(job: J): job is OncePer<J> {
  return job.policy !== undefined;
}

function policyOf(lock: LockConfiguration, oncePer: OncePerConfiguration): JobPolicy {
  if (oncePer.name === undefined && lock.shared) {
    throw new InvalidLockConfigurationError(
      `The once-per job with the shared lock '${lock.name}' needs a name of its own. Pass one beside its period, as in { name: 'close-day' }.`,
    );
  }
  return parseJobPolicy(oncePer, oncePer.name ?? lock.name);
}
