import type { History } from '../history';
import type { HandlerRun, LedgerHistory } from './ledger-history';

/** L2, L3: a handler starts under its own claim, and not if its period is completed. */
export function checkStarts(history: History, ledger: LedgerHistory): string[] {
  const begun = new Set<string>();
  return ledger.handlerRuns.flatMap((run) => {
    const { claim, host, key, beganAtMs, beganOrder } = run;
    const what = `host ${host} began attempt ${claim.attempt} of ${key} at ${beganAtMs}`;
    const isSecond = begun.has(claim.claimedBy);
    begun.add(claim.claimedBy);
    if (isSecond) return [`L2: ${what} twice by one claim`];
    const claimed = ledger
      .changesOf(key)
      .find(({ after }) => after?.state === 'running' && after.claimedBy === claim.claimedBy);
    if (claimed === undefined || claimed.order > beganOrder) return [`L2: ${what} without a claim`];
    const isCompleted = ledger.rowBefore(key, beganOrder)?.state === 'completed';
    return isCompleted && mustKnow(history, ledger, run) ? [`L3: ${what}, although it was completed`] : [];
  });
}

/** Whether the lease of its claim guaranteed that no other instance can have taken over. */
function mustKnow({ rates, pauses, damages }: History, ledger: LedgerHistory, run: HandlerRun): boolean {
  const { host, beganAtMs, claim } = run;
  const { lockName } = ledger.jobs.get(claim.job) ?? {};
  const isSlow = (rates[host] ?? 1) < 1 || pauses.some((each) => each.host === host && each.isSuspended);
  const isDamaged = damages.some(({ name, atMs }) => name === lockName && atMs <= beganAtMs);
  return !isSlow && !isDamaged && !ledger.locksAreNone && ledger.clockSets.length === 0;
}
