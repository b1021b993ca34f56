export interface RenewalState {
  readonly nowMs: number;
  /** When the statement that last gave or renewed the lease was sent. */
  readonly confirmedAtMs: number;
  readonly failuresSince: number;
  readonly renewEveryMs: number;
  readonly deadlineMs: number;
  /** The lease is never renewed past this moment. */
  readonly holdUntilMs: number;
}

export type RenewalPlan = { readonly action: 'renew'; readonly inMs: number } | { readonly action: 'stop' };

/**
 * The first retry of a failed renewal comes after this share of the interval. Each further delay is twice as long, up
 * to the interval.
 */
const FIRST_RETRY_SHARE = 1 / 10;

/** Decides when to renew next. All times are on the monotonic clock. Pure: the lease sets the timer. */
export function planRenewal(state: RenewalState): RenewalPlan {
  const { nowMs, confirmedAtMs, failuresSince, renewEveryMs, deadlineMs, holdUntilMs } = state;
  const dueMs =
    failuresSince === 0
      ? confirmedAtMs + renewEveryMs
      : nowMs + Math.min(renewEveryMs, renewEveryMs * FIRST_RETRY_SHARE * 2 ** (failuresSince - 1));
  if (dueMs >= deadlineMs || deadlineMs >= holdUntilMs) return { action: 'stop' };
  return { action: 'renew', inMs: Math.max(0, dueMs - nowMs) };
}
