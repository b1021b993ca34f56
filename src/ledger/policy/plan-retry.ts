import { FatalJobError } from '../../core/errors';
import type { RetryPolicy } from './retry';

export interface FailedAttempt {
  /** Which one has failed: 1 for the first. */
  readonly attempt: number;
  readonly policy: RetryPolicy;
  /** What the job threw. */
  readonly error: unknown;
  readonly now: Date;
  readonly firstStartedAt: Date;
  /** `undefined` for custom keys. */
  readonly periodEnd: Date | undefined;
}

/** `'fatal'`: the job said that no retry can help. `'exhausted'`: it was the last attempt. `'until'`: the next would come too late. */
export type RetryPlan = { readonly retryAt: Date } | { readonly givenUp: 'exhausted' | 'until' | 'fatal' };

/** What follows from a failed attempt. Pure: whoever writes the row obeys it. */
export function planRetry(failed: FailedAttempt): RetryPlan {
  const { attempt, policy, error, now } = failed;
  if (error instanceof FatalJobError) return { givenUp: 'fatal' };
  if (attempt >= policy.maxAttempts) return { givenUp: 'exhausted' };
  const retryAt = new Date(now.getTime() + retryDelayMs(attempt, policy));
  const until = retriesEndAt(failed);
  return until !== undefined && retryAt >= until ? { givenUp: 'until' } : { retryAt };
}

/** The instant from which on nothing is tried again, if there is one. */
export function retriesEndAt({
  policy,
  firstStartedAt,
  periodEnd,
}: Pick<FailedAttempt, 'policy' | 'firstStartedAt' | 'periodEnd'>): Date | undefined {
  if (policy.untilMs === 'period-end') return periodEnd;
  return policy.untilMs === undefined ? undefined : new Date(firstStartedAt.getTime() + policy.untilMs);
}

/** Never longer than `maxDelay`, however often the job has failed: the power may be infinite, but not the delay. */
function retryDelayMs(attempt: number, { minDelayMs, backoff, maxDelayMs }: RetryPolicy): number {
  if (minDelayMs === 0) return 0; // Zero times infinity is no number.
  return Math.min(maxDelayMs, minDelayMs * backoff ** (attempt - 1));
}
