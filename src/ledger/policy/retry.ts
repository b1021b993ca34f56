import { parseDuration, parsePositiveDuration, type Duration } from '../../core/duration';
import { checkCount, refusePolicy, type PolicySubject } from './policy-subject';

export interface RetryOptions {
  /** How often a run is started at most in its period: 1 for never again. Default 3. */
  readonly maxAttempts?: number | undefined;
  /** From a failure to the second attempt. Default 1 minute. */
  readonly minDelay?: Duration | undefined;
  /** Each further delay is this many times as long. Default 2; 1 for equal delays. */
  readonly backoff?: number | undefined;
  /** No delay is longer. Default 1 hour, or `minDelay` if that is longer. */
  readonly maxDelay?: Duration | undefined;
  /** No retry begins then or later: `'period-end'`, or a length of time after the first attempt began. Default none. */
  readonly until?: Duration | undefined;
}

/** Checked options, in milliseconds. */
export interface RetryPolicy {
  readonly maxAttempts: number;
  readonly minDelayMs: number;
  readonly backoff: number;
  readonly maxDelayMs: number;
  readonly untilMs: 'period-end' | number | undefined;
}

const MOST_ATTEMPTS = 1000;
const HOUR_MS = 3_600_000;

/** @throws InvalidLockConfigurationError naming the option and its value */
export function parseRetryPolicy(options: RetryOptions, { of, customKeys }: PolicySubject): RetryPolicy {
  const { maxAttempts = 3, minDelay = '1m', backoff = 2, maxDelay, until } = options;
  if (!Number.isFinite(backoff) || backoff < 1)
    refusePolicy(
      `retry.backoff ${of}`,
      backoff,
      'it must be a number from 1 on: a factor for each further delay',
    );
  const minDelayMs = parseDuration(minDelay, `retry.minDelay ${of}`);
  const maxDelayMs =
    maxDelay === undefined ? Math.max(HOUR_MS, minDelayMs) : parseDuration(maxDelay, `retry.maxDelay ${of}`);
  if (minDelayMs > maxDelayMs)
    refusePolicy(`retry.minDelay ${of}`, minDelay, `it is longer than maxDelay (${String(maxDelay)})`);
  return {
    maxAttempts: checkCount(maxAttempts, MOST_ATTEMPTS, `retry.maxAttempts ${of}`),
    minDelayMs,
    backoff,
    maxDelayMs,
    untilMs: parseUntil(until, { of, customKeys }),
  };
}

function parseUntil(until: RetryOptions['until'], { of, customKeys }: PolicySubject): RetryPolicy['untilMs'] {
  if (until === undefined) return undefined;
  if (until !== 'period-end') return parsePositiveDuration(until, `retry.until ${of}`);
  if (!customKeys) return until;
  return refusePolicy(`retry.until ${of}`, until, 'the period of a key function has no end: give a duration');
}
