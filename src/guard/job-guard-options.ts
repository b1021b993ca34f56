import type { Clock, Duration, EventHub, LockConfiguration, LockProvider, TaskConfiguration } from '../core';
import type { OncePerConfiguration, RunStore } from '../ledger';
import type { Logger } from './logger';

export interface JobGuardOptions {
  readonly lockProvider: LockProvider;
  /** Where the runs of once-per jobs are kept. The caller closes it. Default: nowhere, and such jobs are refused. */
  readonly runStore?: RunStore | undefined;
  /** How often it is looked for runs that are overdue, from the first registered once-per job on. Default 1 minute; `false`: never. */
  readonly pollInterval?: Duration | false | undefined;
  /** Upper bound of the time limit of a statement on runs. Default 5 s. */
  readonly statementTimeout?: Duration | undefined;
  /** For jobs that do not say it themselves. None: then each must. */
  readonly defaultLockAtMostFor?: Duration | undefined;
  /** The most characters of a lock's name. Default 64, at most 255: as wide as the column of the lock table. */
  readonly nameLength?: number | undefined;
  /** Where failures and warnings are reported, a line each. Default `console`; `false` silences. */
  readonly logger?: Logger | false | undefined;
  readonly clock?: Clock | undefined;
  /** For a provider that reports to the same listeners. */
  readonly events?: EventHub | undefined;
}

/** What a job is guarded with: a lock, and, if it says so, once per period. */
export interface GuardConfiguration extends LockConfiguration {
  /** The job runs once per period. Its name is `oncePer.name`, or else that of the lock. */
  readonly oncePer?: OncePerConfiguration | undefined;
}

/** A guard configuration for one run. */
export interface JobConfiguration extends GuardConfiguration, TaskConfiguration {
  /** With `oncePer`: the instant that decides the period, instead of `scheduledAt` and of now. */
  readonly at?: Date | undefined;
}

/** @typeParam A the arguments that the scheduler calls the function with */
export interface WrapOptions<A extends unknown[] = unknown[]> {
  /**
   * What a failure of the store or of the task becomes. `'report'` (default): an event and a log line, and the call
   * resolves to `undefined`; some schedulers end the process when a handler rejects. `'throw'`: the call rejects as well.
   */
  readonly onError?: 'report' | 'throw' | undefined;
  /**
   * The instant that the scheduler meant, read from the arguments of the call; `undefined` where it is not known. It is
   * reported with the events of the run, and with `oncePer` it decides the period, however late the call comes. If it
   * throws, or returns no date, the job does not run, which is a failure as above.
   */
  readonly scheduledAt?: ((...args: A) => Date | undefined) | undefined;
}
