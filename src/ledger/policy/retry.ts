import { HOUR_MS, parseDuration, parsePositiveDuration, type Duration } from '../../core/duration';
import { FatalJobError } from '../../core/errors';
import { refuseOption } from '../../core/options';
import { checkCount, type PolicySubject } from './policy-subject';

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
export function parseRetryPolicy(options: RetryOptions, subject: PolicySubject): RetryPolicy {
  const { of, endless } = subject;
  const { maxAttempts = endless === 'a tick' ? 1 : 3, initialDelay = '1m', factor = 2, until } = options;
  if (!Number.isFinite(factor) || factor < 1)
    refuseOption(`retry.factor ${of}`, factor, 'it must be a number of at least 1');
  const initialDelayMs = parseDuration(initialDelay, `retry.initialDelay ${of}`);
  const { maxDelay = Math.max(HOUR_MS, initialDelayMs) } = options;
  const maxDelayMs = parseDuration(maxDelay, `retry.maxDelay ${of}`);
  if (initialDelayMs > maxDelayMs)
    refuseOption(`retry.initialDelay ${of}`, initialDelay, `it is longer than maxDelay (${maxDelay})`);
  return {
    maxAttempts: checkCount(maxAttempts, MOST_ATTEMPTS, `retry.maxAttempts ${of}`),
    initialDelayMs,
    factor,
    maxDelayMs,
    untilMs: parseUntil(until, subject),
  };
}

function parseUntil(until: RetryOptions['until'], { of, endless }: PolicySubject): RetryPolicy['untilMs'] {
  if (until === undefined) return undefined;
  if (until !== 'period-end') return parsePositiveDuration(until, `retry.until ${of}`);
  if (endless === undefined) return until;
  return refuseOption(`retry.until ${of}`, until, `${endless} has no end: give a duration`);
}

export interface FailedAttempt {
  /** 1 for the first. */
  readonly attempt: number;
  readonly policy: RetryPolicy;
  readonly error: unknown;
  readonly now: Date;
  readonly firstStartedAt: Date;
  /** `undefined` for custom keys. */
  readonly periodEnd: Date | undefined;
}

/**
 * Decides what follows from a failed attempt: a retry, or the reason why there is none. `'fatal'`: the job threw a
 * `FatalJobError`. `'exhausted'`: it was the last attempt. `'until'`: the next attempt would begin too late. Pure: the
 * caller writes the result to the row.
 */
export function planRetry(failed: FailedAttempt): {
  readonly retryAt?: Date;
  readonly finalReason?: 'exhausted' | 'until' | 'fatal';
} {
  const { attempt, policy, error, now } = failed;
  if (error instanceof FatalJobError) return { finalReason: 'fatal' };
  if (attempt >= policy.maxAttempts) return { finalReason: 'exhausted' };
  const retryAt = new Date(now.getTime() + retryDelayMs(attempt, policy));
  const until = retriesEndAt(failed);
  return until !== undefined && retryAt >= until ? { finalReason: 'until' } : { retryAt };
}

export function retriesEndAt(
  run: Pick<FailedAttempt, 'policy' | 'firstStartedAt' | 'periodEnd'>,
): Date | undefined {
  const { untilMs } = run.policy;
  if (untilMs === 'period-end') return run.periodEnd;
  return untilMs === undefined ? undefined : new Date(run.firstStartedAt.getTime() + untilMs);
}

/** Never longer than `maxDelay`, however often the job has failed: the power can be infinite, but not the delay. */
function retryDelayMs(attempt: number, { initialDelayMs, factor, maxDelayMs }: RetryPolicy): number {
  if (initialDelayMs === 0) return 0; // Zero times infinity is not a number.
  return Math.min(maxDelayMs, initialDelayMs * factor ** (attempt - 1));
}
