import { lastTrustedMs } from '../check-awareness';
import type { History } from '../history';
import type { LeaseHistory } from '../lease-history';
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

/** P2: a job that calls itself runs as a part of its attempt only while its lease lasts. */
export function checkInnerRuns(
  history: History,
  ledger: LedgerHistory,
  leases: readonly LeaseHistory[],
): string[] {
  return ledger.innerRuns.flatMap(({ host, key, claim, atMs }) => {
    const { lockName } = ledger.jobs.get(claim.job) ?? {};
    const token = ledger.changesOf(key).find(({ after }) => after?.claimedBy === claim.claimedBy)
      ?.after?.fencingToken;
    const lease = leases.find(({ name, grant }) => name === lockName && grant?.token === token);
    if (lease === undefined) return [`P7: host ${host} ran ${key} inside itself at ${atMs} without a grant`];
    const endMs = lastTrustedMs(history, lease, 'look');
    return atMs <= endMs
      ? []
      : [`P2: host ${host} ran ${key} inside itself at ${atMs}, although its lease had ended at ${endMs}`];
  });
}

/**
 * After a guard has closed with nothing abandoned, its process may end, so the guard sends no further
 * statements.
 */
export function checkClosings({ operations }: History, { closings, statements }: LedgerHistory): string[] {
  return closings.flatMap(({ host, order }) => {
    const isLate = (sent: { readonly host: number; readonly order: number }): boolean =>
      sent.host === host && sent.order > order;
    const late = [...operations, ...statements].filter(isLate);
    return late.map(({ statement }) => `host ${host} sent its ${statement} after its guard had closed`);
  });
}

/**
 * L3: a completed and purged run is not created again. Two exceptions: by a wrong clock its period may not
 * have ended, and an operator who deletes a row may delete the knowledge of the purge.
 */
export function checkPurged(_: History, { purged, changes, ...ledger }: LedgerHistory): string[] {
  const isDeleted = changes.some((change) => change.after === undefined && !purged.includes(change));
  if (isDeleted || ledger.clockSets.length > 0 || !ledger.wallClocksAreRight) return [];
  return purged.flatMap(({ key, order }) =>
    changes
      .filter((change) => change.key === key && change.order > order)
      .map(({ by, atMs }) => `L3: ${key} was purged, and created again by host ${by?.host} at ${atMs}`),
  );
}
