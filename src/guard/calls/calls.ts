import { types } from 'node:util';
import {
  InvalidLockConfigurationError,
  InvalidLockUseError,
  JobSkippedError,
  type Clock,
  type CronlatchEvents,
  type EventHub,
  type LockProvider,
  type LockingTaskExecutor,
  type SkipReason,
  type TaskResult,
} from '../../core';
import { hostTimeZone } from '../../core/clock';
import { DAY_MS, HOUR_MS } from '../../core/duration';
import { CallReport, type CallEnd } from '../../core/execution/event-hub';
import { callOption, checkOptionNames, describeValue, refuseOption } from '../../core/options';
import { processState } from '../../core/process-state';
import type { DeclaredSchedule } from '../../ledger';
import { timeText } from '../../ledger/operator/state-of-run';
import { intervalOf } from '../../ledger/periods/schedule';
import type { AdmittedJob, Expected, Job, JobCall, JobDeclaration } from '../jobs/job';
import type { LabelledConfiguration, WrapOptions } from '../jobs/job-guard-options';
import { needsLedger, type JobRegistry } from '../jobs/job-registry';
import { lockOf } from '../jobs/lock-functions';
import { checkMethodOptions } from '../jobs/check-options';
import { relative } from '../log/time-texts';
import type { OncePerJobRunner } from './once-per-job-runner';

export interface JobKeeper {
  /** Adds a job that is scheduled, or runs once per period. Returns `false` for any other job. */
  add(job: AdmittedJob): boolean;
  /** @param isEnabled of the guard, called at each check for overdue runs */
  showEnabled(isEnabled: () => boolean): void;
}

export interface GuardParts {
  readonly clock: Clock;
  readonly lockProvider: LockProvider;
  readonly registry: JobRegistry;
  readonly executor: LockingTaskExecutor;
  readonly events: EventHub;
  /** `undefined` without a run store. */
  readonly oncePerRunner: OncePerJobRunner | undefined;
  readonly registered: JobKeeper | undefined;
  readonly startUpkeep: () => void;
}

/** The interface of a guard for decorators and integrations. Applications do not need it. */
export class Calls {
  /** The kind and the name of the database with the locks or the runs, for the log. */
  database: string | undefined;
  /** The kind and the name of the database with the locks, for the log. */
  lockStore: string | undefined;
  /** `undefined` once they have been reported. */
  #admitted: AdmittedJob[] | undefined = [];

  constructor(
    guard: object,
    readonly parts: GuardParts,
  ) {
    allCalls.set(guard, this);
  }

  /**
   * Checks and registers jobs before their first tick, all or none. From then on, overdue runs of once-per jobs start
   * without a tick.
   *
   * @throws InvalidLockConfigurationError also for a name or a lock that another job has
   */
  admit<D extends JobDeclaration>(declarations: readonly D[]): (Job & D & Expected)[] {
    const { registry, registered, startUpkeep } = this.parts;
    const jobs = registry.admit(declarations);
    this.#admitted?.push(...jobs);
    const polled = jobs.filter((job) => registered?.add(job));
    if (polled.length > 0) startUpkeep();
    return jobs;
  }

  admitOne<D extends JobDeclaration>(declaration: D): Job & D & Expected {
    return this.admit([declaration])[0] as Job & D & Expected;
  }

  /** Reports the admitted jobs once, at the end of this turn of the event loop. Each scheduler calls it after its jobs. */
  announce(): void {
    const { clock, events, executor } = this.parts;
    // Before any timer, so that no tick is logged first.
    process.nextTick(() => {
      const jobs = this.#admitted ?? [];
      this.#admitted = undefined;
      if (jobs.length === 0 || executor.runs.closing) return;
      const of = { instance: executor.instance, database: this.database };
      events.emit('guard:started', startOf(jobs, new Date(clock.wallMs()), of));
    });
  }

  /** Reports the calls of a job. The scheduler of a call may not know its scheduled time. */
  reportOf(job: Job, scheduledAt?: Date): CallReport {
    return new CallReport(this.parts.events, job.lock, scheduledAt);
  }

  /** @throws as `guard.run` does */
  async execute<T>(
    job: Job,
    call: JobCall<T>,
    report = this.reportOf(job, call.scheduledAt),
  ): Promise<TaskResult<T>> {
    return await report.during(() => this.#execute(job, call, report));
  }

  async #execute<T>(job: Job, call: JobCall<T>, report: CallReport): Promise<TaskResult<T>> {
    if (job.policy !== undefined)
      return await this.requireOncePerRunner(`Job '${job.policy.job}' needs`).run(job, call, report);
    const { registry, executor } = this.parts;
    const { nameOf, lock } = job;
    const skipped = registry.skipIfDisabled(job, report);
    if (skipped !== undefined) return skipped;
    if (nameOf !== undefined) report.lock = report.check(() => lockOf(lock, nameOf, call.args));
    return await executor.runTask(call.task, report);
  }

  /** Reports the ticks that a scheduler dropped in one stall. The guard retries those of admitted once-per jobs. */
  dropTicks(job: AdmittedJob, ticks: readonly Date[], error: Error): void {
    const { registry, executor, oncePerRunner } = this.parts;
    const reports = ticks.map((scheduledAt) => this.reportOf(job, scheduledAt));
    const [first] = reports;
    if (first === undefined) return;
    let end: CallEnd = { outcome: 'lock-failed', error };
    try {
      const reason = executor.runs.closing ? 'closing' : registry.skipIfDisabled(job, first)?.reason;
      if (reason === undefined) {
        const kept = reports.filter((report) => job.policy && oncePerRunner?.keepDropped(job, report));
        first.willRetry = kept.length > 0;
        first.fail(error);
      } else end = { outcome: 'skipped', reason };
    } catch (failure) {
      end = { outcome: 'lock-failed', error: failure }; // An event has reported it.
    }
    for (const report of reports) report.endWith(end);
  }

  wrap<A extends unknown[], T>(
    configuration: LabelledConfiguration,
    task: (...args: A) => T | PromiseLike<T>,
    options: WrapOptions<A>,
  ): (...args: A) => Promise<T | undefined> {
    const { name } = configuration;
    const place = `guard.wrap('${name}')`;
    checkOptionNames(options, ['onError', 'onSkip', 'scheduledAt', 'schedule'], place);
    const { onError = 'report', onSkip, scheduledAt = () => undefined, schedule } = options;
    const schedules = schedule === undefined ? undefined : [declaredSchedule(schedule, place)];
    checkMethodOptions({ onSkip }, name);
    const call = (args: readonly unknown[]) => (): T | PromiseLike<T> => task(...(args as A));
    const job = this.admitOne({ configuration, call, place, schedules });
    this.announce();
    const tick = (args: A, report: CallReport): Promise<TaskResult<T>> => {
      report.scheduledAt = report.check(() => readScheduledTime(() => scheduledAt(...args), name));
      return this.#execute(job, { task: call(args), args, call }, report);
    };
    return async (...args) => {
      let result: TaskResult<T>;
      try {
        const report = this.reportOf(job);
        result = await report.during(() => tick(args, report));
      } catch (error) {
        if (onError === 'throw') throw error;
        return undefined; // An event has reported it: lock:failed or run:failed.
      }
      if (result.executed) return result.value;
      if (onSkip === 'throw') throw jobSkippedError(name, result.reason);
      return undefined;
    };
  }

  warn(message: string, error?: unknown): void {
    this.parts.events.warn(message, error);
  }

  /** @throws InvalidLockConfigurationError if the guard has no run store */
  requireOncePerRunner(needing: string): OncePerJobRunner {
    if (this.parts.oncePerRunner !== undefined) return this.parts.oncePerRunner;
    throw needsLedger(needing);
  }
}

const MOST_NAMED = 3;

/** @param of.database its kind and name, without credentials, if it is known */
function startOf(
  jobs: readonly AdmittedJob[],
  now: Date,
  { instance, database }: { readonly instance: string; readonly database: string | undefined },
): CronlatchEvents['guard:started'] {
  const timed = jobs.map((job) => ({ job, next: nextTimeOf(job, now) }));
  timed.sort((a, b) => Number(a.next ?? Infinity) - Number(b.next ?? Infinity));
  const named = timed.slice(0, MOST_NAMED).map(({ job, next }) => describeJob(job, next, now));
  if (timed.length > MOST_NAMED) named.push(`and ${timed.length - MOST_NAMED} more`);
  const count = `${jobs.length} ${jobs.length === 1 ? 'job' : 'jobs'}`;
  const place = database === undefined ? '' : ` on ${database}`;
  return {
    message: `${instance} guards ${count}${place}: ${named.join(', ')}`,
    database,
    jobs: timed.map(({ job, next }) => ({ job: job.lock.job, nextScheduledAt: next })),
  };
}

function nextTimeOf({ expectation, configuration }: AdmittedJob, now: Date): Date | undefined {
  return configuration.enabled === false ? undefined : expectation.schedule?.next(now);
}

function describeJob(job: AdmittedJob, next: Date | undefined, now: Date): string {
  const { configuration, schedules = [] } = job;
  const [name, intervalMs] = [job.lock.job, intervalOf(schedules)];
  const schedule = schedules.find((each) => 'expression' in each);
  if (configuration.enabled === false) return `${name} (disabled)`;
  if (next !== undefined) return `${name} ${describeTime(next, now, schedule?.timeZone)}`;
  if (intervalMs !== undefined) return `${name} every ${intervalMs / 1000} s`;
  return schedule === undefined ? name : `${name} at '${schedule.expression}'`;
}

/** A near time counts from now. Another one is in the time zone of the schedule, or else in that of the host. */
function describeTime(next: Date, now: Date, timeZone = hostTimeZone()): string {
  const aheadMs = next.getTime() - now.getTime();
  if (aheadMs < HOUR_MS) return `${relative(new Date(now.getTime() + Math.max(1000, aheadMs)), now)}`;
  const [date, time = ''] = timeText(next, timeZone).split(' ');
  return `${aheadMs < DAY_MS ? '' : `on ${date} `}at ${time.slice(0, 5)} ${timeZone}`;
}

/** @throws InvalidLockConfigurationError naming the option */
function declaredSchedule(given: NonNullable<WrapOptions['schedule']>, place: string): DeclaredSchedule {
  const what = `schedule of ${place}`;
  const declared = typeof given === 'string' ? { expression: given } : given;
  const isInterval = Object(declared) === declared && 'every' in declared;
  checkOptionNames(declared, isInterval ? ['every'] : ['expression', 'timeZone', 'dialect'], what);
  if (!isInterval) return { dialect: 'croner', ...declared };
  if (Number.isFinite(declared.every) && declared.every > 0) return declared;
  refuseOption(`every of the ${what}`, declared.every, 'use a positive number of milliseconds');
}

export function jobSkippedError(lockName: string, reason: SkipReason): JobSkippedError {
  return new JobSkippedError(`The job with lock '${lockName}' was skipped: ${reason}.`, { reason });
}

/** @throws InvalidLockConfigurationError if the `scheduledAt` option of `guard.wrap` throws or returns an invalid date */
function readScheduledTime(scheduledAt: () => unknown, job: string): Date | undefined {
  const read = callOption(
    scheduledAt,
    `scheduledAt of job '${job}' threw an error. It must return the scheduled time of every call, or undefined if it is unknown.`,
  );
  if (read === undefined || (types.isDate(read) && !Number.isNaN(read.getTime()))) return read;
  throw new InvalidLockConfigurationError(
    `scheduledAt of job '${job}' returned ${describeValue(read)}. It must return a valid Date, or undefined if the scheduled time is unknown.`,
  );
}

/** By guard, including guards of another installed copy of cronlatch. */
const allCalls = processState('integrations', () => new WeakMap<object, Calls>());

/** Whether a value is a guard, also one of another installed copy of cronlatch. */
export function isJobGuard(value: unknown): boolean {
  return allCalls.has(value as object);
}

/**
 * In JavaScript, it is easy to pass the promise of a guard.
 *
 * @throws InvalidLockUseError for anything but a guard
 */
export function callsOf(guard: object, caller = 'cronlatch'): Calls {
  const calls = allCalls.get(guard);
  if (calls !== undefined) return calls;
  throw new InvalidLockUseError(
    `${caller} expected a job guard, but got ${describeValue(guard)}. If this is a promise, await it: await createJobGuard(dataSource).`,
  );
}
