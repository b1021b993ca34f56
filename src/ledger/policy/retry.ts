import { HOUR_MS, parseDuration, parsePositiveDuration, type Duration } from '../../core/duration';
import { FatalJobError } from '../../core/errors';
import { refuseOption } from '../../core/options';
import type { PeriodOptions } from '../periods/period';
import type { Run } from '../run';

export interface RetryOptions {
  /** The most attempts of a run: 1 for no retry. Default 3, and 1 for `'tick'`. */
  readonly maxAttempts?: number | undefined;
  /** The delay from the first failure to the second attempt. Default 1 minute. */
  readonly initialDelay?: Duration | undefined;
  /** Each further delay is this many times longer. Default 2; 1 for equal delays. */
  readonly factor?: number | undefined;
  /** The longest delay. Default 1 hour, or `initialDelay` if that is longer. */
  readonly maxDelay?: Duration | undefined;
  /** No retry begins from then on: `'period-end'`, or a time after the first attempt began. Default: no limit. */
  readonly until?: Duration | undefined;
}

export interface RetryPolicy {
  readonly maxAttempts: number;
  readonly initialDelayMs: number;
  readonly factor: number;
  readonly maxDelayMs: number;
  readonly untilMs: 'period-end' | number | undefined;
}

const MOST_ATTEMPTS = 1000;

/** @throws InvalidLockConfigurationError naming the option and its value */
export function parseRetryPolicy(
  options: RetryOptions,
  kind: PeriodOptions['kind'],
  of: string,
): RetryPolicy {
  const { maxAttempts = kind === 'tick' ? 1 : 3, initialDelay = '1m', factor = 2, until } = options;
  if (!Number.isFinite(factor) || factor < 1)
    refuseOption(`retry.factor ${of}`, factor, 'it must be a number of at least 1');
  const initialDelayMs = parseDuration(initialDelay, `retry.initialDelay ${of}`);
  const { maxDelay = Math.max(HOUR_MS, initialDelayMs) } = options;
  const maxDelayMs = parseDuration(maxDelay, `retry.maxDelay ${of}`);
  if (initialDelayMs > maxDelayMs)
    refuseOption(`retry.initialDelay ${of}`, initialDelay, `it is longer than maxDelay (${maxDelay})`);
  if (until === 'period-end' && (kind === 'tick' || typeof kind === 'function')) {
    const what = kind === 'tick' ? 'a tick' : 'the period of a key function';
    refuseOption(`retry.until ${of}`, until, `${what} has no end: give a duration`);
  }
  return {
    maxAttempts: checkCount(maxAttempts, MOST_ATTEMPTS, `retry.maxAttempts ${of}`),
    initialDelayMs,
    factor,
    maxDelayMs,
    untilMs:
      until === undefined || until === 'period-end'
        ? until
        : parsePositiveDuration(until, `retry.until ${of}`),
  };
}

export function checkCount(value: number, most: number, what: string): number {
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  return refuseOption(what, value, `it must be a whole number from 1 to ${most}`);
}

/**
 * Decides what follows from a failed attempt: a retry, or the reason why there is none. `'fatal'`: the job threw a
 * `FatalJobError`. `'exhausted'`: it was the last attempt. `'until'`: the next attempt would begin too late. Pure: the
 * caller writes the result to the row.
 */
export function planRetry(
  { attempt, firstStartedAt, periodEnd }: Pick<Run, 'attempt' | 'firstStartedAt' | 'periodEnd'>,
  error: unknown,
  policy: RetryPolicy,
  now: Date,
): { readonly retryAt?: Date; readonly finalReason?: 'exhausted' | 'until' | 'fatal' } {
  if (error instanceof FatalJobError) return { finalReason: 'fatal' };
  if (attempt >= policy.maxAttempts) return { finalReason: 'exhausted' };
  const retryAt = new Date(now.getTime() + retryDelayMs(attempt, policy));
  const until = retriesEndAt(firstStartedAt ?? now, periodEnd, policy);
  return until !== undefined && retryAt >= until ? { finalReason: 'until' } : { retryAt };
}

export function retriesEndAt(
  firstStartedAt: Date,
  periodEnd: Date | undefined,
  { untilMs }: RetryPolicy,
): Date | undefined {
  if (untilMs === 'period-end') return periodEnd;
  return untilMs === undefined ? undefined : new Date(firstStartedAt.getTime() + untilMs);
}

/** Never longer than `maxDelay`, however often the job has failed: the power can be infinite, but not the delay. */
function retryDelayMs(attempt: number, { initialDelayMs, factor, maxDelayMs }: RetryPolicy): number {
  if (initialDelayMs === 0) return 0; // Zero times infinity is not a number.
  return Math.min(maxDelayMs, initialDelayMs * factor ** (attempt - 1));
}
