/**
 * policy/: what a job's options mean.
 *
 * This file declares the options, checks them once, and turns them into a `JobPolicy` in milliseconds. An error names the
 * job, the option and its value. The two larger rules have files of their own, each with its options, their check, and
 * the pure function that applies them: `retry.ts` decides whether and when a failed attempt is retried, and `catch-up.ts`
 * decides what happens to missed periods.
 */
import { InvalidLockConfigurationError } from '../../core';
import { refuseOption } from '../../core/options';
import { parsePositiveDuration, type Duration } from '../../core/duration';
import { checkStoredName } from '../../core/lock-name';
import { LONGEST_KEY, type RunKey } from '../run';
import { everyDay, type BusinessCalendar } from '../periods/calendar';
import {
  compilePeriodAt,
  type CalendarPeriodOptions,
  type Period,
  type PeriodKeyFunction,
  type PeriodKind,
  type PeriodOptions,
} from '../periods/period';
import { parseCatchUpPolicy, type CatchUpOptions, type CatchUpPolicy } from './catch-up';
import { parseRetryPolicy, type RetryOptions, type RetryPolicy } from './retry';

/** The options of a job that runs once per period. */
export interface OncePerOptions extends CatchUpOptions {
  /** The job's name in the ledger: 1–64 characters. Default: the name of its lock. */
  readonly name?: string | undefined;
  /**
   * The time zone of the business day, an IANA name. Default: that of the job's schedule, or else the guard's
   * `defaultTimeZone`. Without any of them, the job is rejected, unless it runs once per tick.
   */
  readonly timeZone?: string | undefined;
  /** When a business day begins, by the wall clock of the zone. Default `'00:00'`. */
  readonly dayStart?: string | undefined;
  /** `'previous'`: a run counts for the period before the one in which it happens. Default `'current'`. */
  readonly target?: 'current' | 'previous' | undefined;
  readonly retry?: RetryOptions | undefined;
  /** After a crash of the holder, `'retry'` (default) repeats the work, and `'hold'` waits for an operator. */
  readonly onCrash?: 'retry' | 'hold' | undefined;
  /**
   * The first attempt begins no later than this after the scheduled time of its tick. If it would, the period is
   * recorded as skipped (`deadline`). A tick without a scheduled time counts from when it came, and a run that was given
   * back from its first claim. Missed periods, those that an operator added, and calls with `at`, count from the earliest
   * time of a tick for that period: its start, or with `target: 'previous'` its end. Default: no deadline.
   */
  readonly startDeadline?: Duration | undefined;
  /**
   * The dates on which the job runs. A period longer than a day is asked about by the dates of its scheduled times, until
   * one is a business day. Default: every date.
   */
  readonly calendar?: BusinessCalendar | undefined;
  /** Divides the job, for example by tenant: it runs once per period and scope. A function gets the call's arguments. */
  readonly scope?: string | ((...args: never[]) => string) | undefined;
  /** Required if `scope` is a function. Returns the arguments for an overdue run that no call of the job starts. */
  readonly resume?: ((run: RunKey) => readonly unknown[]) | undefined;
  /**
   * How far the host's clock may differ from the database's before cronlatch corrects the scheduled time of a tick.
   * Default 5 minutes.
   */
  readonly maxSkew?: Duration | undefined;
}

/** Runs a job once per period, and decides what happens otherwise. */
export interface OncePerConfiguration extends OncePerOptions {
  /**
   * `'day'`, `'hour'` and so on, or a function that returns a key for an instant. `'tick'`: once for each scheduled time,
   * however far the clocks of the instances differ. A call without a scheduled time is a run of its own.
   */
  readonly period: PeriodKind | PeriodKeyFunction;
}

export interface JobPolicy {
  readonly job: string;
  readonly period: PeriodOptions;
  readonly periodAt: (instant: Date) => Period;
  readonly retry: RetryPolicy;
  readonly onCrash: 'retry' | 'hold';
  readonly startDeadlineMs: number | undefined;
  readonly catchUp: CatchUpPolicy;
  readonly calendar: BusinessCalendar;
  readonly maxSkewMs: number;
  /** `''` for none. */
  readonly scope: string | ((...args: never[]) => string);
  readonly resume: OncePerConfiguration['resume'];
}

/** @throws InvalidLockConfigurationError naming the job, the option and its value */
export function parseJobPolicy(oncePer: OncePerConfiguration, job: string): JobPolicy {
  checkStoredName(job, { as: 'the name of a once-per job', longest: LONGEST_KEY });
  const { period: kind, dayStart, target, onCrash = 'retry', calendar = everyDay, startDeadline } = oncePer;
  const timeZone = oncePer.timeZone ?? (kind === 'tick' ? 'UTC' : undefined);
  const of = `of job '${job}'`;
  if (timeZone === undefined) {
    throw new InvalidLockConfigurationError(
      `Job '${job}' needs a timeZone, for example 'Europe/Paris'. Set it on the job, or set defaultTimeZone on the guard. cronlatch never uses the host's time zone.`,
    );
  }
  const period = { kind, timeZone, dayStart, target };
  const periodAt = compilePeriodAt(period, ` ${of}`);
  if (onCrash !== 'retry' && onCrash !== 'hold')
    refuseOption(`onCrash ${of}`, onCrash, `it must be 'retry' or 'hold'`);
  checkCalendar(calendar, of);
  checkScope(oncePer, of);
  return {
    job,
    period,
    periodAt,
    retry: parseRetryPolicy(oncePer.retry ?? {}, kind, of),
    onCrash,
    startDeadlineMs:
      startDeadline === undefined ? undefined : parsePositiveDuration(startDeadline, `startDeadline ${of}`),
    catchUp: parseCatchUpPolicy(oncePer, kind, of),
    calendar,
    maxSkewMs: parsePositiveDuration(oncePer.maxSkew ?? '5m', `maxSkew ${of}`),
    scope: oncePer.scope ?? '',
    resume: oncePer.resume?.bind(oncePer),
  };
}

/** The period options of a job whose periods follow each other; `undefined` for ticks and for a key function. */
export function calendarPeriodsOf(policy: JobPolicy): (CalendarPeriodOptions & PeriodOptions) | undefined {
  const { kind } = policy.period;
  return kind === 'tick' || typeof kind === 'function' ? undefined : { ...policy.period, kind };
}

/** The one scope of a job, `''` for none. Also `''` if a function chooses it. */
export function fixedScopeOf({ scope }: Pick<JobPolicy, 'scope'>): string {
  return typeof scope === 'string' ? scope : '';
}

function checkScope({ scope, resume }: OncePerConfiguration, of: string): void {
  if (scope !== undefined && typeof scope !== 'string' && typeof scope !== 'function')
    refuseOption(`scope ${of}`, scope, 'it must be a string, or a function of the arguments');
  if (typeof scope === 'function' && typeof resume !== 'function') {
    throw new InvalidLockConfigurationError(
      `scope ${of} is a function, so the job also needs a resume function. It returns the arguments for an overdue run: resume: (run) => [run.scope].`,
    );
  }
}

function checkCalendar(calendar: unknown, of: string): void {
  if (typeof calendar === 'object' && calendar !== null && 'isBusinessDay' in calendar) return;
  refuseOption(`calendar ${of}`, calendar, 'it must have a method isBusinessDay(date)');
}

export function isPastStartDeadline(
  startDeadlineMs: number | undefined,
  scheduledAt: Date | undefined,
  now: Date,
): boolean {
  if (startDeadlineMs === undefined || scheduledAt === undefined) return false;
  return now.getTime() - scheduledAt.getTime() > startDeadlineMs;
}

/**
 * The earliest time of a tick for a period. The start deadline counts from there if no tick has a scheduled time.
 * `undefined` for a key function.
 */
export function earliestTickOf(
  { start, end }: Pick<Period, 'start' | 'end'>,
  { target }: PeriodOptions,
): Date | undefined {
  return target === 'previous' ? end : start;
}
