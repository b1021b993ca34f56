import type { Run } from 'cronlatch/provider';
import type { Claim } from '#cronlatch/ledger/run';

/** The database's now, as a decision gets it. */
export const NOW = new Date('2026-11-20T03:00:00Z');

export function after(ms: number): Date {
  return new Date(NOW.getTime() + ms);
}

/**
 * A day's first attempt, which started a minute ago under the lease with token 7, and has half a minute left.
 */
export function runRow(changes: Partial<Run> = {}): Run {
  return {
    ...{ job: 'close-day', scope: '', periodKey: '2026-11-20', timeZone: 'Europe/Paris' },
    ...{ periodStart: new Date('2026-11-19T23:00:00Z'), periodEnd: new Date('2026-11-20T23:00:00Z') },
    ...{ state: 'running', generation: 0, attempt: 1, nextAttemptAt: undefined },
    ...{ claimedBy: 'host/1/a', lockId: 'place/close-day', fencingToken: 7, leaseUntil: after(30_000) },
    ...{ firstStartedAt: after(-60_000), startedAt: after(-60_000), finishedAt: undefined },
    ...{ reason: undefined, result: undefined, error: undefined },
    ...{ createdAt: after(-60_000), updatedAt: after(-60_000) },
    ...changes,
  };
}

/** The attempt as the holder of `runRow()` knows it. */
export const CLAIM: Claim = {
  ...{ job: 'close-day', scope: '', periodKey: '2026-11-20' },
  ...{ generation: 0, attempt: 1, claimedBy: 'host/1/a' },
};
