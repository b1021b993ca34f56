/**
 * policy/: what a job's options mean.
 *
 * `once-per.ts` declares the options. This file checks them, once, and turns them into a `JobPolicy` in milliseconds. An
 * error names the job, the option and its value. The two larger rules have files of their own, each with its options,
 * their check, and the pure function that applies them: `retry.ts` decides whether and when a failed attempt is retried,
 * and `catch-up.ts` decides what happens to missed periods.
 */
import { InvalidLockConfigurationError } from '../../core';
import { refuseOption } from '../../core/options';
import { parsePositiveDuration, type Duration } from '../../core/duration';
import { checkStoredName } from '../../core/lock-name';
import { LONGEST_KEY } from '../run';
import { everyDay, type BusinessCalendar } from '../periods/calendar';
import {
  compilePeriodAt,
  type CalendarPeriodOptions,
  type Period,
  type PeriodOptions,
} from '../periods/period';
import { parseCatchUpPolicy, type CatchUpPolicy } from './catch-up';
import type { OncePerConfiguration } from './once-per';
import { parseRetryPolicy, type RetryPolicy } from './retry';

/** The checked options of a once-per job. */
export interface JobPolicy {
  readonly job: string;
  readonly period: PeriodOptions;
  /** The period that a run at this instant counts for. */
  readonly periodAt: (instant: Date) => Period;
  readonly retry: RetryPolicy;
  readonly onCrash: 'retry' | 'hold';
  readonly startDeadlineMs: number | undefined;
  readonly catchUp: CatchUpPolicy;
  readonly calendar: BusinessCalendar;
  readonly maxSkewMs: number;
  /** Divides the job: once per period in each scope. `''` for none. */
  readonly scope: string | ((...args: never[]) => string);
  /** The arguments for an overdue run's call of the handler. Default: none. */
  readonly resume: OncePerConfiguration['resume'];
}

/**
 * @param job the name of the job
 * @throws InvalidLockConfigurationError naming the job, the option and its value
 */
export function parseJobPolicy(oncePer: OncePerConfiguration, job: string): JobPolicy {
  checkStoredName(job, { as: 'the name of a once-per job', longest: LONGEST_KEY });
  const { period: kind, timeZone, dayStart, target, onCrash = 'retry', calendar = everyDay } = oncePer;
  const of = `of job '${job}'`;
  if (timeZone === undefined) {
    throw new InvalidLockConfigurationError(
      `Job '${job}' needs a timeZone, for example 'Europe/Paris'. Set it on the job, or set defaultTimeZone on the guard. cronlatch never uses the host's time zone.`,
    );
  }
  const period = { kind, timeZone, dayStart, target };
  const periodAt = compilePeriodAt(period, ` ${of}`);
  const subject = { of, customKeys: typeof kind === 'function' };
  if (onCrash !== 'retry' && onCrash !== 'hold')
    refuseOption(`onCrash ${of}`, onCrash, `it must be 'retry' or 'hold'`);
  checkCalendar(calendar, of);
  checkScope(oncePer, of);
  return {
    job,
    period,
    periodAt,
    retry: parseRetryPolicy(oncePer.retry ?? {}, subject),
    onCrash,
    startDeadlineMs: parseStartDeadline(oncePer.startDeadline, of),
    catchUp: parseCatchUpPolicy(oncePer, subject),
    calendar,
    maxSkewMs: parsePositiveDuration(oncePer.maxSkew ?? '5m', `maxSkew ${of}`),
    scope: oncePer.scope ?? '',
    resume: oncePer.resume?.bind(oncePer),
  };
}

/** The period options of a job whose periods have an order; `undefined` for a key function. */
export function calendarPeriodsOf({
  period,
}: JobPolicy): (CalendarPeriodOptions & PeriodOptions) | undefined {
  return isOfCalendar(period) ? period : undefined;
}

function isOfCalendar(period: PeriodOptions): period is CalendarPeriodOptions & PeriodOptions {
  return typeof period.kind !== 'function';
}

/** @throws InvalidLockConfigurationError */
export function checkScopeName(scope: unknown, job: string): asserts scope is string {
  if (scope === '') return;
  checkStoredName(scope, { as: `a scope of job '${job}'`, longest: LONGEST_KEY });
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

/** @returns milliseconds. A first attempt begins no later than that after its scheduled time. */
export function parseStartDeadline(startDeadline: Duration | undefined, of: string): number | undefined {
  return startDeadline === undefined
    ? undefined
    : parsePositiveDuration(startDeadline, `startDeadline ${of}`);
}

/** Whether a first attempt would begin too late. */
export function isPastStartDeadline(
  startDeadlineMs: number | undefined,
  { now, scheduledAt }: { readonly now: Date; readonly scheduledAt: Date | undefined },
): boolean {
  if (startDeadlineMs === undefined || scheduledAt === undefined) return false;
  return now.getTime() - scheduledAt.getTime() > startDeadlineMs;
}

/**
 * The earliest time at which a tick can count for a period. The deadline counts from there if no tick has a scheduled
 * time. `undefined` for a key function.
 */
export function earliestTickOf(
  { start, end }: Pick<Period, 'start' | 'end'>,
  { target }: PeriodOptions,
): Date | undefined {
  return target === 'previous' ? end : start;
}
