import type {
  Clock,
  Duration,
  EventHub,
  LockConfiguration,
  LockProvider,
  TaskConfiguration,
} from '../../core';
import type { DeclaredCron, OncePerConfiguration, RunLogOptions } from '../../ledger';
import type { Logger, StructuredLogger } from '../log/logger';
import type { Notify } from '../notices/webhook';

export interface JobGuardOptions extends RunLogOptions {
  readonly lockProvider: LockProvider;
  /** How often the guard looks for overdue runs, once a once-per job is registered. Default 1 minute; `false`: never. */
  readonly pollInterval?: Duration | false | undefined;
  /**
   * How long after a scheduled time a job counts as late if no instance has answered the tick: `job:late` reports it. Also
   * for a job that has only a lock.
   * Never less than two `pollInterval`. Default 5 minutes.
   */
  readonly lateAfter?: Duration | undefined;
  /** The longest time that one statement on runs may take. Default 5 s. */
  readonly statementTimeout?: Duration | undefined;
  /** The `lockAtMostFor` of jobs that do not set it. Without a default, every job must set it. */
  readonly defaultLockAtMostFor?: Duration | undefined;
  /** The `lockAtLeastFor` of jobs that do not set it. A job that sets `0` has none. Default 0. */
  readonly defaultLockAtLeastFor?: Duration | undefined;
  /** The `keepAlive` of jobs that do not set it. A job that sets `false` has none. Default `false`. */
  readonly defaultKeepAlive?: boolean | Duration | undefined;
  /** The IANA `timeZone` of once-per jobs if neither they nor their schedules set one. Without it, they are rejected. */
  readonly defaultTimeZone?: string | undefined;
  /** The maximum length of lock names, in characters: the width of the lock table's name column. Default 64, at most 255. */
  readonly nameLength?: number | undefined;
  /** Gets one line or entry per run, failure and warning. Default: `console` without `debug`; `false` logs nothing. */
  readonly logger?: Logger | StructuredLogger | false | undefined;
  /**
   * How long runs are kept, up to 36,500 days. Once a day, the job `cronlatch-purge` purges older runs as `purge` of
   * `operations(guard)` does, unless the guard is disabled. Needs a ledger. Default: runs are kept until you purge them, but 1,000 of
   * once-per-tick jobs.
   */
  readonly retention?: Duration | undefined;
  /** What `guard.enable` sets, for jobs that tick before the application can call it. Default `true`. */
  readonly enabled?: boolean | (() => boolean) | undefined;
  /**
   * Who learns of runs that fail permanently or are interrupted, of late jobs, of missed periods, and of pauses that end:
   * `webhook({ url, secret })`, or functions of your own. Each notice waits in the database until an instance has sent it, at least once
   * and always with the same `id`. One that fails is sent up to three times more. Needs a ledger in a database. Default: none.
   */
  readonly notify?: Notify | readonly Notify[] | undefined;
  /**
   * A name of this instance, such as its node: 1 to 100 letters, digits and `. _ : @ + -`. It precedes the host and the
   * process id wherever they are stored or shown, as in `node-7:billing-6c9f/12`. It does not have to be unique, and must
   * not be a secret. Default: none.
   */
  readonly instanceName?: string | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** Pass the hub of your lock provider if it reports events too, so that they share listeners. */
  readonly events?: EventHub | undefined;
}

/**
 * A duration, or a function that returns one, for a value that is unknown while the code loads. A guard calls the function
 * once, when it registers the job. If the function throws or returns an invalid duration, the job is rejected with an
 * InvalidLockConfigurationError.
 *
 * @typeParam Args the arguments of the function
 */
export type DurationSource<Args extends unknown[] = []> = Duration | ((...args: Args) => Duration);

/** The lock of a job. Unlike other locks, it can have functions for its times. */
export type JobLock<Args extends unknown[] = []> = {
  [K in keyof LockConfiguration]:
    LockConfiguration[K] | (K extends 'lockAtMostFor' | 'lockAtLeastFor' ? DurationSource<Args> : never);
};

/** Options of a job besides its lock and its period. */
export interface JobOptions {
  /**
   * `false`: no tick or call runs the job. Each is skipped with the reason `disabled`, sends nothing to the database, and
   * is not retried. Overdue runs wait until the job is enabled. A function is called for each tick and each check for
   * overdue runs. If it throws or does not return a boolean, the job does not run: the call rejects with an
   * InvalidLockConfigurationError, which `lock:failed` reports. Default `true`.
   */
  readonly enabled?: boolean | (() => boolean) | undefined;
}

/** Options of a decorated method besides its lock and its period. */
export interface MethodOptions extends JobOptions {
  /**
   * What happens to a call that is skipped. `'resolve'` (default): it resolves to `undefined`. `'throw'`: it rejects with
   * a JobSkippedError. A tick of node-cron or of Nest's `@Cron` always resolves, because a skipped tick is not a failure.
   */
  readonly onSkip?: 'resolve' | 'throw' | undefined;
}

/** A lock name per call, so that calls with other arguments do not exclude each other. Once-per jobs use `scope`. */
export interface NamedByArguments<A extends unknown[] = never[]> {
  /**
   * Gets the arguments of the call. Its result is checked like any name. If it throws or returns an invalid name, the job
   * does not run: the call rejects with an InvalidLockConfigurationError, which `lock:failed` reports.
   */
  readonly name: (...args: A) => string;
  /** The name of the job in errors, and in events about a call whose name is unknown. Default: the name of the handler. */
  readonly label?: string | undefined;
}

/** The options of a lock, for a name that depends on the arguments. */
export type LockByArguments<A extends unknown[] = never[], Args extends unknown[] = []> = Omit<
  JobLock<Args>,
  'name'
> &
  NamedByArguments<A>;

/** The options of `@SchedulerLock`. The functions of its times get the instance of the class, which can hold settings. */
export type MethodLock = (JobLock<[jobs: never]> | LockByArguments<never[], [jobs: never]>) & MethodOptions;

/** A job's lock, and with `oncePer` also its period: the job then runs once in each. */
export interface GuardConfiguration<Args extends unknown[] = []> extends JobLock<Args>, JobOptions {
  /** Runs the job once per period. Its name is `oncePer.name`, or else the name of the lock. */
  readonly oncePer?: OncePerConfiguration | undefined;
}

/** A configuration as a guard gets it: with `nameOf`, the `name` is a label. */
export interface LabelledConfiguration extends GuardConfiguration<[jobs: never]> {
  /** Returns the name of the lock for the arguments of a call. */
  readonly nameOf?: ((...args: never[]) => string) | undefined;
}

/** A guard configuration for one run. Its times are not functions. */
export interface JobConfiguration extends Pick<GuardConfiguration, 'oncePer'>, JobOptions, TaskConfiguration {
  /** With `oncePer`: decides the period, instead of `scheduledAt` or the current time. */
  readonly at?: Date | undefined;
}

/** @typeParam A the arguments with which the scheduler calls the function */
export interface WrapOptions<A extends unknown[] = unknown[]> {
  /**
   * What happens if the store or the task fails. `'report'` (default): an event and a log line report it, and the call
   * resolves to `undefined`, because some schedulers end the process if a handler rejects. `'throw'`: the call also
   * rejects.
   */
  readonly onError?: 'report' | 'throw' | undefined;
  /**
   * What happens to a call that is skipped. `'resolve'` (default): it resolves to `undefined`. `'throw'`: it rejects with
   * a JobSkippedError, regardless of `onError`. Set it only for calls by your application: most schedulers treat a
   * rejection as a failure.
   */
  readonly onSkip?: 'resolve' | 'throw' | undefined;
  /**
   * Returns the scheduled time of a call from its arguments, or `undefined` if it is unknown. The events of the run
   * carry this time. With `oncePer` it decides the period, however late the call comes. If the function throws or
   * returns an invalid date, the job does not run, and `onError` applies.
   */
  readonly scheduledAt?: ((...args: A) => Date | undefined) | undefined;
  /**
   * When the scheduler calls the job: an expression of croner in the host's time zone, or an object with the expression, its
   * time zone and the dialect that reads it. `{ every }` is an interval in milliseconds that each process counts by itself. The
   * job is then watched: `status`, metrics and notices report if it is late or has missed a period. An expression that cannot be
   * read or never fires is refused. Without a schedule, each period of the calendar is expected.
   */
  readonly schedule?:
    | string
    | (Partial<DeclaredCron> & Pick<DeclaredCron, 'expression'>)
    | { readonly every: number }
    | undefined;
}
