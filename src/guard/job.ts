import {
  InvalidLockConfigurationError,
  type Duration,
  type LockConfiguration,
  type LockedTask,
} from '../core';
import { compileLock, type CompiledLock } from '../core/lock-configuration';
import type { OncePerConfiguration } from '../ledger';
import { parseJobPolicy, type JobPolicy } from '../ledger/policy/job-policy';
import type { OpenInvocation } from './invocation';
import type { GuardConfiguration } from './job-guard-options';
import { checkJobOptions } from './option-names';

/** A named thing that a guard runs: its configuration, checked once. Its ticks parse nothing. */
export interface Job {
  readonly lock: CompiledLock;
  /** Of a job that runs once per period. */
  readonly policy: JobPolicy | undefined;
}

/** A job as an integration finds it. */
export interface JobDeclaration {
  /** Class and method, or the call that declares the job. For messages. */
  readonly place: string;
  /** Belongs to the integration: it does not change any more. */
  readonly configuration: GuardConfiguration;
  /** Calls the handler with these arguments. */
  readonly call: (args: readonly unknown[]) => LockedTask<unknown>;
  /** Whether an overdue run may start here now. Default: always. */
  readonly isReady?: (() => boolean) | undefined;
  /** Of a job that the integration schedules itself. No other scheduled job may then have its lock. */
  readonly schedules?: readonly { readonly expression: string }[] | undefined;
}

/** A job that a guard knows before its first tick. */
export interface AdmittedJob extends Job {
  readonly place: string;
  readonly call: JobDeclaration['call'];
  readonly isReady: () => boolean;
}

/** A job that runs once per period. */
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
  /** Decides the period, instead of `scheduledAt` and of now. */
  readonly at?: Date | undefined;
  /** Where the scheduled time comes from. It counts for one call per job and scope. */
  readonly invocation?: OpenInvocation | undefined;
}

export interface JobDefaults {
  readonly nameLength: number;
  readonly lockAtMostFor: Duration | undefined;
}

/** @throws InvalidLockConfigurationError naming the lock or the job, the option and its value */
export function compileJob(configuration: GuardConfiguration, defaults: JobDefaults): Job {
  const { oncePer, ...declared } = configuration;
  const lockAtMostFor = declared.lockAtMostFor ?? defaults.lockAtMostFor;
  const lock = compileLock({ ...declared, lockAtMostFor }, defaults.nameLength);
  checkJobOptions(configuration);
  return { lock, policy: oncePer === undefined ? undefined : policyOf(lock, oncePer) };
}

export function isOncePer<J extends Job>(job: J): job is OncePer<J> {
  return job.policy !== undefined;
}

function policyOf(lock: LockConfiguration, oncePer: OncePerConfiguration): JobPolicy {
  if (oncePer.name === undefined && lock.shared) {
    throw new InvalidLockConfigurationError(
      `The once-per job under lock '${lock.name}' has no name of its own, and needs one, for the lock is shared: give it { name: … } beside its period.`,
    );
  }
  return parseJobPolicy(oncePer, oncePer.name ?? lock.name);
}
