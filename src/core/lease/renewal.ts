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

/** A failed renewal is tried again sooner than a good one is due, at first; the lease's deadline ends the trying. */
const FIRST_RETRY_SHARE = 1 / 10;

/** When to renew next. All times on the monotonic clock. Pure: whoever holds the timers obeys it. */
export function planRenewal(state: RenewalState): RenewalPlan {
  const { nowMs, confirmedAtMs, failuresSince, renewEveryMs, deadlineMs, holdUntilMs } = state;
  const dueMs =
    failuresSince === 0
      ? confirmedAtMs + renewEveryMs
      : nowMs + Math.min(renewEveryMs, renewEveryMs * FIRST_RETRY_SHARE * 2 ** (failuresSince - 1));
  if (dueMs >= deadlineMs || deadlineMs >= holdUntilMs) return { action: 'stop' };
  return { action: 'renew', inMs: Math.max(0, dueMs - nowMs) };
}
