import type { Duration } from '../../core';
import type { BusinessCalendar } from '../periods/calendar';
import type { CatchUpOptions } from './catch-up';
import type { PeriodKeyFunction, PeriodKind } from '../periods/period';
import type { RetryOptions } from './retry';
import type { RunKey } from '../run';

/** What a job that runs once per period may say of itself. */
export interface OncePerOptions extends CatchUpOptions {
  /** Under which the ledger keeps the job: 1–64 characters. Default: the name of its lock. */
  readonly name?: string | undefined;
  /** In which the business day is, a name of IANA's. Default: that of `@Scheduled` beside it; required without one. */
  readonly timeZone?: string | undefined;
  /** When a business day begins, by the wall clock of the zone. Default `'00:00'`. */
  readonly dayStart?: string | undefined;
  /** `'previous'`: a run counts for the period before the one that it happens in. Default `'current'`. */
  readonly target?: 'current' | 'previous' | undefined;
  readonly retry?: RetryOptions | undefined;
  /**
   * What becomes of a run whose holder vanished. `'retry'` (default): its work is repeated, for it is still overdue.
   * `'hold'`: it waits for a person, because it must not be repeated blindly.
   */
  readonly onCrash?: 'retry' | 'hold' | undefined;
  /** No first attempt begins later than this after the start of its period (not of its tick). Default none. */
  readonly startDeadline?: Duration | undefined;
  /** On which dates the job runs: asked about the first date of a period. Default: every date. */
  readonly calendar?: BusinessCalendar | undefined;
  /** Divides the job, by tenant or region: once per period in each. A function is given the arguments of the call. */
  readonly scope?: string | ((...args: never[]) => string) | undefined;
  /** Beside a scope that is a function: the arguments with which a run is brought back when no tick calls for it. */
  readonly resume?: ((run: RunKey) => readonly unknown[]) | undefined;
  /** How far the host's clock may differ from the database's before a tick's instant is corrected. Default 5 minutes. */
  readonly maxSkew?: Duration | undefined;
}

/** Once per period, and what happens otherwise. */
export interface OncePerConfiguration extends OncePerOptions {
  /** `'day'`, `'hour'` and so on; or a function that makes a key of an instant. */
  readonly period: PeriodKind | PeriodKeyFunction;
}
