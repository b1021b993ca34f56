import type { Duration } from '../../core';
import type { BusinessCalendar } from '../periods/calendar';
import type { CatchUpOptions } from './catch-up';
import type { PeriodKeyFunction, PeriodKind } from '../periods/period';
import type { RetryOptions } from './retry';
import type { RunKey } from '../run';

/** The options of a job that runs once per period. */
export interface OncePerOptions extends CatchUpOptions {
  /** The job's name in the ledger: 1–64 characters. Default: the name of its lock. */
  readonly name?: string | undefined;
  /**
   * The time zone of the business day, an IANA name. Default: that of the job's schedule, or else the guard's
   * `defaultTimeZone`. Without any of them, the job is rejected.
   */
  readonly timeZone?: string | undefined;
  /** When a business day begins, by the wall clock of the zone. Default `'00:00'`. */
  readonly dayStart?: string | undefined;
  /** `'previous'`: a run counts for the period before the one in which it happens. Default `'current'`. */
  readonly target?: 'current' | 'previous' | undefined;
  readonly retry?: RetryOptions | undefined;
  /**
   * What happens to a run whose holder crashed. `'retry'` (default) repeats its work. `'hold'` waits for an operator,
   * for work that must not be repeated blindly.
   */
  readonly onCrash?: 'retry' | 'hold' | undefined;
  /**
   * The first attempt begins no later than this after the scheduled time of its tick. If it would, the period is
   * recorded as skipped (`deadline`). A tick without a scheduled time counts from when it came, and a run that was given
   * back from its first claim. Missed and backfilled periods, and calls with `at`, count from the earliest time of a
   * tick for that period: its start, or with `target: 'previous'` its end. Default: no deadline.
   */
  readonly startDeadline?: Duration | undefined;
  /** The dates on which the job runs. cronlatch asks it about the first date of a period. Default: every date. */
  readonly calendar?: BusinessCalendar | undefined;
  /**
   * Divides the job, for example by tenant or region: it runs once per period in each scope. A function gets the
   * arguments of the call.
   */
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
  /** `'day'`, `'hour'` and so on, or a function that returns a key for an instant. */
  readonly period: PeriodKind | PeriodKeyFunction;
}
